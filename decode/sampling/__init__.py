"""Sampling what the model means: the model's own law on condition that the text is a member of the constraint."""

from .asap import ASAp
from .canonical import Canonical
from .cars import CARS
from .enumeration import Enumerate
from .masked import Masked
from .model import LanguageModel
from .prefix_tree_model import PrefixTreeModel
from .rejection import Rejection
from .sample import Sample, Statistics
from .sampler import Sampler

__all__ = [
    "CARS",
    "ASAp",
    "Canonical",
    "Enumerate",
    "LanguageModel",
    "Masked",
    "PrefixTreeModel",
    "Rejection",
    "Sample",
    "Sampler",
    "Statistics",
]
