"""Examples as learners of other libraries read them.

| library      | numeric column    | nominal column                                  | missing value                  |
|--------------|-------------------|-------------------------------------------------|--------------------------------|
| river        | name -> float     | name -> category, text                          | the name is left out           |
| scikit-learn | a column of float | a column of 0 and 1 for each category, in order | NaN; 0 in all of its columns   |

River learners meet categories as they come up. The number of inputs of a scikit-learn estimator cannot change, so
categories that come up after the first call have no column: such a cell is read as missing.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np


class RowReader(NamedTuple):
    """What the columns of a model mean: `names` and `nominal` for each, `categories` and `widths` for nominal ones."""

    names: tuple[str, ...]
    nominal: np.ndarray
    categories: tuple[tuple[str, ...], ...]
    widths: tuple[int, ...]  # categories of the first call

    @classmethod
    def of(cls, names: tuple[str, ...], nominal: np.ndarray, categories: tuple[tuple[str, ...], ...]) -> Self:
        return cls(names, nominal, categories, tuple(len(values) for values in categories))

    def read(self, numeric: np.ndarray, codes: np.ndarray) -> ExternalRows:
        """Rows as kernels take them, to be read by others."""
        return ExternalRows(self, numeric, codes)


class ExternalRows:
    """Rows in the form of either library, made when first asked for and then shared by all learners."""

    def __init__(self, reader: RowReader, numeric: np.ndarray, codes: np.ndarray) -> None:
        self.reader, self.numeric, self.codes = reader, numeric, codes

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each row, for river."""
        values = iter(self.reader.categories)
        columns: list[list[Any]] = []
        numbers, codes = iter(self.numeric.T.tolist()), iter(self.codes.T.tolist())
        for nominal in self.reader.nominal:
            if nominal:
                known = dict(enumerate(next(values)))
                columns.append([known.get(code) for code in next(codes)])
            else:
                columns.append([None if x != x else x for x in next(numbers)])
        return [
            {name: value for name, value in zip(self.reader.names, row, strict=True) if value is not None}
            for row in zip(*columns, strict=True)
        ]

    @cached_property
    def matrix(self) -> np.ndarray:
        """All rows as numbers, for scikit-learn."""
        widths = iter(self.reader.widths)
        numbers, codes = iter(self.numeric.T), iter(self.codes.T)
        return np.column_stack(
            [
                next(codes)[:, None] == np.arange(next(widths)) if nominal else next(numbers)
                for nominal in self.reader.nominal
            ]
        ).astype(np.float64, copy=False)
