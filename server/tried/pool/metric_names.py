"""What the name of a metric tells: which way is better, and whether it measures the result at all.

A name is cut into segments (`val/topK_accuracy` → val top k accuracy) and only whole segments count: `lossless` is no
`loss`. The tables are documented in docs/outcomes.md, which a test holds against this module.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tried.pool.record import Direction


def _words(text: str) -> list[str]:
    return text.split()


PHRASES: Final[dict[str, Direction]] = {
    "bits per byte": "min",
    "bits per char": "min",
    "bits per character": "min",
    "bits per dim": "min",
    "bits per token": "min",
    "cross entropy": "min",
    "negative log likelihood": "min",
    "neg log likelihood": "min",
    "false positive": "min",
    "false positives": "min",
    "false negative": "min",
    "false negatives": "min",
    "edit distance": "min",
    "abs rel": "min",
    "step time": "min",
    "step avg ms": "min",
    "ms per step": "min",
    "ms per token": "min",
    "sec per step": "min",
    "seconds per step": "min",
    "time per step": "min",
    "time per token": "min",
    "time to": "min",
    "inference time": "min",
    "prediction time": "min",
    "response time": "min",
    "true positive": "max",
    "true positives": "max",
    "true negative": "max",
    "true negatives": "max",
    "exact match": "max",
    "log likelihood": "max",
    "r squared": "max",
    "explained variance": "max",
    "c index": "max",
    "per sec": "max",
    "per second": "max",
    "tok s": "max",
    "tokens s": "max",
    "win rate": "max",
    "success rate": "max",
    "pass rate": "max",
    "hit rate": "max",
    "pass 1": "max",
    "pass 10": "max",
    "pass 100": "max",
}
"""Segments that mean something together. They are looked for first, the longest first."""

GAINS: Final = frozenset(_words("gain gains improvement improvements lift uplift speedup"))
"""More of it is better whatever it is a gain of (`rmse_improvement`)."""

WORDS: Final[dict[str, Direction]] = {
    **dict.fromkeys(
        _words(
            "loss losses error errors err rmse mse mae mape smape rmsle msle nrmse mase wape medae nll perplexity "
            "ppl bpb bpc bpd wer cer ter der eer ece mce brier regret fid kid fvd fad lpips latency cost kl kld "
            "divergence deviance crps pinball logloss fpr fnr frr misclassification misclassified violation "
            "violations xent hausdorff hd95 assd epe chamfer mcd toxicity ttft tpot"
        ),
        "min",
    ),
    **dict.fromkeys(
        _words(
            "accuracy accuracies acc f1 fbeta fscore dice iou miou jaccard auc auroc auprc aupr prauc rocauc roc "
            "map mar ap precision recall sensitivity specificity tpr tnr ppv npv kappa qwk mcc r2 pearson "
            "spearman kendall correlation ndcg dcg mrr bleu sacrebleu rouge rougel rougelsum meteor chrf "
            "bertscore psnr ssim sdr sisdr sisnr snr pesq stoi reward rewards return returns likelihood elbo "
            "silhouette throughput tps qps fps mfu hfu winrate elo sharpe sortino profit pnl tss bss hss gini "
            "concordance cindex hits purity nmi ari homogeneity completeness correct mmlu hellaswag winogrande "
            "gsm8k humaneval piqa boolq truthfulqa glue superglue"
        ),
        "max",
    ),
}
"""One segment is enough; the last in a name decides (`uncertainty_nll_auc` is an auc)."""

WEAK_WORDS: Final[dict[str, Direction]] = {"score": "max", "scores": "max", "fitness": "max", "fit": "max"}
"""Decide only where nothing else does (`brier_score` is better low)."""

SPREAD: Final = frozenset(_words("std stdev stddev sd sem var variance ci stderr"))
"""As the first or last segment: how much a metric varies, not what it is."""

REFERENCES: Final = frozenset(_words("baseline previous reference comparison"))
"""As the first segment: somebody else's result, noted for comparison."""

BOOKKEEPING_PHRASES: Final = (
    "grad norm",
    "gradient norm",
    "param norm",
    "weight norm",
    "loss scale",
    "learning rate",
    "grad acc",
    "exit code",
    "return code",
    "samples per second",
    "steps per second",
    "epochs per second",
)

BOOKKEEPING_WORDS: Final = frozenset(
    _words(
        "epoch epochs step steps iteration iterations iter iters batch batches sample samples token tokens "
        "param params parameter parameters memory mem vram rss ram gb mb kb gib mib kib byte bytes size seed "
        "time times timestamp date runtime duration elapsed wall wallclock second seconds sec secs ms minute "
        "minutes hour hours gpu gpus cpu cpus device devices node nodes rank returncode exitcode lr n k num "
        "count counts fold trial trials index idx id commit status version phase threshold flops gflops "
        "tflops macs"
    )
)
"""How the run went, not how good it is; only where no segment names a result (`loss_step` is a loss)."""

_PIECE = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST_PHRASE = max(phrase.count(" ") for phrase in (*PHRASES, *BOOKKEEPING_PHRASES)) + 1


@lru_cache(maxsize=8192)
def segments_of(name: str) -> tuple[str, ...]:
    """`val/topK_accuracy` → (val, top, k, accuracy); known words in mixed case stay whole (`mAP` → map)."""
    found: list[str] = []
    for piece in _PIECE.findall(name[:512]):
        whole = piece.lower()
        if whole in WORDS:
            found.append(whole)
        else:
            found.extend(part.lower() for part in _CAMEL.split(piece))
    return tuple(found)


@lru_cache(maxsize=8192)
def direction_by_name(name: str) -> Direction | None:
    """Which way is better as the tables have it; None where they say nothing."""
    segments = segments_of(name)
    if is_bookkeeping_metric(name):
        return None
    return _strong_direction(segments) or next((WEAK_WORDS[part] for part in segments if part in WEAK_WORDS), None)


@lru_cache(maxsize=8192)
def is_bookkeeping_metric(name: str) -> bool:
    """True where the name speaks of the run's course or cost: epoch, memory, seed, a spread, a reference value."""
    segments = segments_of(name)
    if not segments:
        return True
    if segments[0] in SPREAD or segments[-1] in SPREAD or segments[0] in REFERENCES:
        return True
    if any(phrase in BOOKKEEPING_PHRASES for phrase in _runs(segments)):
        return True
    if _strong_direction(segments) is not None:
        return False
    return any(_without_digits(part) in BOOKKEEPING_WORDS for part in segments)


def names_a_result(word: str) -> bool:
    """True where a name ends in the name of a result (`val_bpb`, `loss`), as against `loss_weight`."""
    last = segments_of(word)[-1:]
    return any(part in WORDS or part in WEAK_WORDS or _without_digits(part) in WORDS for part in last)


def _strong_direction(segments: tuple[str, ...]) -> Direction | None:
    if GAINS.intersection(segments):
        return "max"
    for phrase in _runs(segments):
        if phrase in PHRASES:
            return PHRASES[phrase]
    for part in reversed(segments):
        direction = WORDS.get(part) or WORDS.get(_without_digits(part))
        if direction is not None:
            # scikit-learn's `neg_mean_squared_error`: an error turned round so that up is better.
            return "max" if direction == "min" and "neg" in segments else direction
    return None


def _runs(segments: tuple[str, ...]) -> list[str]:
    """All runs of two or more neighbouring segments, the longest first."""
    return [
        " ".join(segments[start : start + length])
        for length in range(min(_LONGEST_PHRASE, len(segments)), 1, -1)
        for start in range(len(segments) - length + 1)
    ]


def _without_digits(segment: str) -> str:
    return segment.rstrip("0123456789") or segment
