"""Sampling what the model means: the model's own law on condition that the text is a member of the constraint."""

from .aligned_sampler import AlignedSampler
from .asap import ASAp
from .awrs import AWRS
from .canonical import Canonical
from .cars import CARS
from .enumeration import Enumerate
from .evaluation import Curve, expectation, kl_divergence, learning_curve, over_texts, weighted_law
from .futures import StateFutures
from .masked import Masked
from .metropolis_hastings import MetropolisHastings
from .model import LanguageModel
from .plots import plot_expectation, plot_kl
from .prefix_tree_model import PrefixTreeModel
from .rejection import Rejection
from .sample import Sample, Statistics
from .sampler import Sampler
from .smc import SMC
from .transformers_model import TransformersModel
from .trie import Trie
from .truncated_model import TruncatedModel

__all__ = [
    "AWRS",
    "CARS",
    "SMC",
    "ASAp",
    "AlignedSampler",
    "Canonical",
    "Curve",
    "Enumerate",
    "LanguageModel",
    "Masked",
    "MetropolisHastings",
    "PrefixTreeModel",
    "Rejection",
    "Sample",
    "Sampler",
    "StateFutures",
    "Statistics",
    "TransformersModel",
    "Trie",
    "TruncatedModel",
    "expectation",
    "kl_divergence",
    "learning_curve",
    "over_texts",
    "plot_expectation",
    "plot_kl",
    "weighted_law",
]
