"""Models as files: `model.save(path)`, `edgewise.load(path)`. docs/how-to/saving.md has the format.

One file per concern: `archive` (the zip and its limits), `npy` (arrays), `values` (JSON), `classes` (all that a file
may name), `generators` (random state), `forests` and `states` (whether arrays fit together), `online`, `batch` and
`networks` (the families of models), `models` (saving and loading).
"""

from edgewise.persist.archive import ModelFileError
from edgewise.persist.models import load, save

__all__ = ["ModelFileError", "load", "save"]
