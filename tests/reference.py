#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints the numbers that tests/unit.c wants of the statistics, from numpy and scipy (Debian: python3-scipy).

They stand in the tests as constants, so the tests need neither. Run it when a test of the statistics is added.
"""
import numpy as np
from scipy import stats

twenty = [i * 37 % 101 / 7 for i in range(20)]
slow = [100 + np.floor(i / 4) + i * 37 % 11 / 10 for i in range(20)]
noisy = [62.5 + i * 7919 % 1000 / 1e4 for i in range(20)]
speeds = [30 + i * 37 % 11 / 100 for i in range(12)] + [33 + i * 37 % 11 / 100 for i in range(8)]
spiked = [50 + i * 37 % 20 / 10 for i in range(30)] + [70, 20.5]


def row(name, *numbers):
    print(f"{name:32}", ", ".join(f"{n:.10g}" for n in numbers))


for level in (0.95, 0.99):
    for df in (1, 2, 3, 4, 7, 10, 19, 30, 100, 999):
        row(f"student {level} {df}", stats.t.ppf((1 + level) / 2, df))
for t, df in ((0.5, 1), (1.7, 2), (2.5, 5), (3.1, 40), (12, 3)):
    row(f"within {t} {df}", stats.t.cdf(t, df) - stats.t.cdf(-t, df))


def estimate(x, level):
    x = np.array(x, float)
    n = len(x)
    d = x - x.mean()
    r = (d[1:] * d[:-1]).sum() / (d * d).sum()
    r = min(max(r + (1 + 3 * r) / n, 0), 0.9)
    worth = min(max(n * (1 - r) / (1 + r), 4), n)
    df = int(worth + 0.5) - 1
    return r, x.mean(), stats.t.ppf((1 + level) / 2, df) * x.std(ddof=1) / np.sqrt(worth)


for name, x in (("twenty", twenty), ("slow", slow), ("noisy", noisy), ("two", [1.0, 2.0]), ("three", [1.0, 2.0, 4.0])):
    row(f"correlation, mean, half {name}", *estimate(x, 0.95))
    row(f"... at 0.99 {name}", *estimate(x, 0.99))
for name, x in (("twenty", twenty), ("spiked", spiked), ("speeds", speeds)):
    q1, q2, q3 = np.percentile(x, (25, 50, 75))
    far = sum(v < q1 - 3 * (q3 - q1) or v > q3 + 3 * (q3 - q1) for v in x)
    row(f"quartiles, outliers {name}", q1, q2, q3, far)
for name, x in (("twenty", twenty), ("spiked", spiked), ("speeds", speeds), ("noisy", noisy)):
    x = np.sort(x)
    n = len(x)
    within = [(((x[:k] - x[:k].mean()) ** 2).sum() + ((x[k:] - x[k:].mean()) ** 2).sum(), k)
              for k in range(1, n) if k > n // 10 and n - k > n // 10]
    least, k = min(within)
    row(f"cut {name}", k, 1 - least / ((x - x.mean()) ** 2).sum())
for name, x in (("twenty", twenty), ("slow", slow), ("noisy", noisy)):
    n = len(x)
    s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
    row(f"trend {name}", (s - np.sign(s)) / np.sqrt(n * (n - 1) * (2 * n + 5) / 18))


def trimmed(x, level):
    x = np.array(x, float)
    n = len(x)
    cut = n // 5
    d = x - x.mean()
    r = (d[1:] * d[:-1]).sum() / (d * d).sum()
    r = min(max(r + (1 + 3 * r) / n, 0), 0.9)
    worth = max(n * (1 - r) / (1 + r), 5)
    w = np.array(stats.mstats.winsorize(x, (0.2, 0.2)))
    return stats.trim_mean(x, 0.2), stats.t.ppf((1 + level) / 2, int(worth * 3 / 5) - 1) * w.std(ddof=1) / (0.6 * np.sqrt(worth))


for name, x in (("twenty", twenty), ("slow", slow), ("noisy", noisy), ("spiked", spiked)):
    row(f"trimmed at 0.99 {name}", *trimmed(x, 0.99))

alike = [62.5 + i * 104729 % 1000 / 1e4 for i in range(20)]
ranks = (
    ("five and five", [1, 2, 3, 4, 5], [3.5, 6, 7, 8, 9]),
    ("apart", [1, 2, 3, 4], [5, 6, 7, 8]),
    ("three and seven", [10, 20, 30], [1, 2, 3, 11, 12, 13, 31]),
    ("one and one", [1], [2]),
    ("noisy and alike", noisy, alike),
    ("twenty and slow", twenty, slow),
    ("ties", [1, 1, 2, 2, 3], [2, 2, 3, 3, 4, 4]),
    ("all equal", [7, 7, 7], [7, 7, 7]),
    ("equal on each side", [7, 7, 7, 7], [8, 8, 8, 8]),
    ("thirty-two and twenty", spiked, [v + 43.7 for v in twenty]),
)
for name, x, y in ranks:
    exact = len(x) * len(y) <= 400 and len(set(x) | set(y)) == len(x) + len(y)
    p = stats.mannwhitneyu(x, y, method="exact" if exact else "asymptotic").pvalue
    row(f"mann-whitney {name}", 1 if np.isnan(p) else p)

ns = [10000000 + i * 7919 % 1000 * 1000 for i in range(200)]
hits = [ns[i] // 16 + i * 104729 % 5000 for i in range(200)]
for n, per in ((0, 10), (1, 10), (2, 10), (19, 10), (20, 10), (37, 5), (200, 10), (104, 5), (60, 1)):
    rounds = n // per
    groups = [range(i * per, (i + 1) * per) for i in range(rounds)] if rounds > 1 else [[i] for i in range(min(n, 20))]
    groups = groups[:20]
    rates = [1e3 * sum(hits[i] for i in g) / sum(ns[i] for i in g) for g in groups]
    half = estimate(rates, 0.95)[2] if len(rates) > 1 else float("inf")
    row(f"rate {n} {per}", 1e3 * sum(hits[:n]) / sum(ns[:n]) if n else 0, half)
