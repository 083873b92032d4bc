"""
Potentials, exactly
===================

The potential of boost by majority is the loss to expect of learners with a known edge. The paper estimates it from
random walks; here it is exact. With 20 learners, this is the share of mistakes that remains, by the number of labels:
Figure 1 of Jung, Goetz and Tewari 2017.
"""

import matplotlib.pyplot as plt

from edgewise.theory.potentials import asymptotic_error

labels = range(2, 41)
figure, ax = plt.subplots(figsize=(7, 4))
for edge in (0.01, 0.05, 0.1, 0.2):
    ax.plot(labels, [asymptotic_error(k, 20, edge) for k in labels], label=f"edge {edge}")
ax.set(xlabel="number of labels", ylabel="share of mistakes", ylim=(0, 1))
_ = ax.legend(frameon=False)

# %%
# Learners of a small edge need company: the share of mistakes with 10 labels and an edge of .1, by number of learners.

for n in (20, 100, 400):
    print(f"{n:>3} learners {asymptotic_error(10, n, 0.1):.3f}")
