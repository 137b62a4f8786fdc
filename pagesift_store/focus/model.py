"""The link model: how much each feature of a link says about the page behind it, learned as the crawl goes.

P(target relevant) = σ(b + w·x) with a diagonal Gaussian posterior over the five weights and the intercept,
updated one sample at a time: Chapelle and Li, *An Empirical Evaluation of Thompson Sampling*, NIPS 2011,
algorithm 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagesift_store.focus.stats import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FEATURES", "PRIORS", "PRIOR_PRECISION", "STEADY_PRECISION", "Posterior"]

FEATURES = ("anchor", "url", "context", "parent", "phrase")
"""Names of the features, in the order of every vector here."""

PRIORS = (2.0, 1.5, 1.0, 0.5, 0.5)
"""Prior mean of each feature's weight; that of the intercept is 0."""

PRIOR_PRECISION = 0.25
"""Prior precision (1/variance) of all six coordinates."""


STEADY_PRECISION = 4.0
"""Prior precision under the setting `focus="full"`: a confident miss moves a mean by a sixteenth of what it does
under the reference's ¼, which on real sites made the order worse than that of the priors."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is believed about the weights, and the weights that scores are computed with.

    Attributes:
        mean: six means, the features in the order of `FEATURES`, then the intercept.
        precision: six precisions (1/variance), above 0, in the same order.
        used: the five weights in use: the priors at first, later 0 or more. They follow the means in steps
            that are sure, so that the queue is not rescored for noise.
    """

    mean: tuple[float, ...]
    precision: tuple[float, ...]
    used: tuple[float, ...]

    @classmethod
    def prior(cls, priors: Sequence[float] = PRIORS, precision: float = PRIOR_PRECISION) -> Posterior:
        """The belief before any sample.

        Args:
            precision: prior precision of all six coordinates, above 0.
            priors: one finite prior weight a feature, in use as it stands until its mean moves.

        Returns:
            The posterior of zero samples.

        Raises:
            ValueError: not five numbers, or one that is not finite.
        """
        mean = _vector(priors, "prior")
        return cls(
            mean=(*mean, 0.0),
            precision=(precision,) * (len(FEATURES) + 1),
            used=mean,
        )

    def rows(self) -> list[tuple[float, float, float | None]]:
        """Mean, precision and weight in use of each coordinate; the intercept, the last, has no weight in use."""
        return list(zip(self.mean, self.precision, (*self.used, None), strict=True))

    def predict(self, x: Sequence[float]) -> float:
        """The probability that the page behind a link is relevant.

        Args:
            x: five finite feature values, in the order of `FEATURES`.

        Returns:
            σ(b + w·x) at the means, in [0, 1].

        Raises:
            ValueError: not five numbers, or one that is not finite; the message names it.
        """
        return self._probability(_vector(x, "feature"))

    def updated(self, x: Sequence[float], relevant: bool, delta: float) -> tuple[Posterior, bool]:
        """The posterior after one more sample.

        With p = σ(b + w·x) from the means as they are, every coordinate with x ≠ 0 gets
        q += p(1 − p)x², then m += (y − p)x/q. A weight in use is replaced by max(m, 0) where it differs from
        that by more than z·√(1/q), z = Φ⁻¹(1 − δ).

        Args:
            x: five finite feature values, in the order of `FEATURES`; usually in [0, 1]. −0.0 counts as zero.
            relevant: the label y: whether the fetched page was relevant.
            delta: error level δ, one-sided.

        Returns:
            The new posterior, and whether a weight in use changed.

        Raises:
            ValueError: not five numbers, or one that is not finite; the message names it.
        """
        inputs = (*_vector(x, "feature"), 1.0)
        p = self._probability(inputs[:-1])
        curvature = p * (1.0 - p)
        residual = (1.0 if relevant else 0.0) - p
        mean, precision = list(self.mean), list(self.precision)
        for i, value in enumerate(inputs):
            if value != 0.0:
                precision[i] += curvature * value * value
                mean[i] += residual * value / precision[i]
        used = self._weights_in_use(mean, precision, normal_quantile(1.0 - delta))
        return Posterior(tuple(mean), tuple(precision), used), used != self.used

    def _probability(self, x: Sequence[float]) -> float:
        logit = self.mean[-1]
        for weight, value in zip(self.mean, x, strict=False):
            logit += weight * value
        return _sigmoid(logit)

    def _weights_in_use(
        self, mean: Sequence[float], precision: Sequence[float], z: float
    ) -> tuple[float, ...]:
        return tuple(
            _stepped(weight, max(m, 0.0), z * math.sqrt(1.0 / q))
            for weight, m, q in zip(self.used, mean, precision, strict=False)
        )


def _stepped(weight: float, target: float, margin: float) -> float:
    return target if abs(target - weight) > margin else weight


def _sigmoid(t: float) -> float:
    """1 / (1 + e⁻ᵗ); exactly 0 where e⁻ᵗ overflows and exactly 1 where it vanishes beside 1."""
    try:
        return 1.0 / (1.0 + math.exp(-t))
    except OverflowError:
        return 0.0


def _vector(values: Sequence[float], what: str) -> tuple[float, ...]:
    """The values, once they are as many as there are features and all finite."""
    if len(values) != len(FEATURES):
        raise ValueError(f"{len(values)} {what} values given; five are needed: {', '.join(FEATURES)}")
    for name, value in zip(FEATURES, values, strict=True):
        if not math.isfinite(value):
            raise ValueError(f"{what} {name}={value!r} must be finite")
    return tuple(map(float, values))
