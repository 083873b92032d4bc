"""Streaming gradient boosting of small neural networks: N networks as one batched model, on a CPU or a GPU.

PyTorch comes with the extra `neural`; nothing here imports it before a model learns.
"""
