"""Lets Optuna write trials, into a database and a journal file. Run by the trackers' interpreter.

`write_optuna.py write|more`: prints what Optuna itself says of the trials, as JSON: by storage, study and number.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

optuna: Any = importlib.import_module("optuna")
journal: Any = importlib.import_module("optuna.storages.journal")


def storages() -> dict[str, Any]:
    return {
        "database": optuna.storages.RDBStorage("sqlite:///optuna.db"),
        "journal": optuna.storages.JournalStorage(journal.JournalFileBackend("optuna_journal.log")),
    }


def objective(trial: Any) -> float:
    rate: float = trial.suggest_float("optimizer.lr", 1e-5, 1e-1, log=True)
    trial.suggest_int("layers", 1, 8)
    trial.suggest_categorical("activation", ["relu", "gelu", None, True, 3])
    trial.set_user_attr("note", f"trial {trial.number}: größer 模型")
    trial.set_user_attr("host", "a")
    if trial.number == 1:
        raise RuntimeError("shape mismatch")
    if trial.number == 2:
        trial.report(1.0, 0)
        trial.report(float("nan"), 5)
        return float("nan")
    if trial.number == 3:
        return float("-inf")
    if trial.number == 4:
        trial.report(0.5, 0)
        trial.report(0.25, 1)
        raise optuna.TrialPruned()
    return rate


def write(storage: Any) -> None:
    sampler = optuna.samplers.RandomSampler(seed=1)
    study = optuna.create_study(study_name="tune/ü", storage=storage, direction="minimize", sampler=sampler)
    study.set_user_attr("note", "the whole search")
    study.optimize(objective, n_trials=6, catch=(RuntimeError,))
    study.ask()
    study.enqueue_trial({"optimizer.lr": 0.02})
    several = optuna.create_study(study_name="several", storage=storage, directions=["minimize", "maximize"])
    several.set_metric_names(["loss", "accuracy"])
    several.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 0.5), n_trials=1)
    unnamed = optuna.create_study(study_name="unnamed", storage=storage, directions=["maximize", "minimize"])
    unnamed.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 0.5), n_trials=1)
    optuna.create_study(study_name="empty", storage=storage)


def more(storage: Any) -> None:
    """The open trial ends, one is added, a study is deleted, another one gets a note."""
    study = optuna.load_study(study_name="tune/ü", storage=storage)
    study.tell(6, 1e-9)
    study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.COMPLETE, value=0.75))
    optuna.delete_study(study_name="unnamed", storage=storage)
    optuna.load_study(study_name="several", storage=storage).set_user_attr("note", "enough")


def said(storage: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for study in optuna.study.get_all_study_summaries(storage=storage):
        for trial in optuna.load_study(study_name=study.study_name, storage=storage).get_trials():
            found[f"{study.study_name}/{trial.number}"] = {"params": trial.params, "state": trial.state.name}
    return found


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    both = storages()
    for storage in both.values():
        {"write": write, "more": more}[sys.argv[1]](storage)
    print(json.dumps({name: said(storage) for name, storage in both.items()}))
