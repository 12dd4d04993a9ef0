"""Hydra output folders as Hydra 1.3 writes them, many of them, for measurements."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

_HYDRA_YAML = """hydra:
  run:
    dir: outputs/${now:%Y-%m-%d}/${now:%H-%M-%S}
  sweep:
    dir: multirun/${now:%Y-%m-%d}/${now:%H-%M-%S}
    subdir: ${hydra.job.num}
  launcher:
    _target_: hydra._internal.core_plugins.basic_launcher.BasicLauncher
  sweeper:
    _target_: hydra._internal.core_plugins.basic_sweeper.BasicSweeper
    max_batch_size: null
    params: null
  help:
    app_name: ${hydra.job.name}
    header: '${hydra.help.app_name} is powered by Hydra.

      '
    footer: 'Powered by Hydra (https://hydra.cc)

      Use --hydra-help to view Hydra specific help

      '
    template: '${hydra.help.header}

      == Configuration groups ==

      Compose your configuration from those groups (group=option)


      $APP_CONFIG_GROUPS


      == Config ==

      Override anything in the config (foo.bar=value)


      $CONFIG


      ${hydra.help.footer}

      '
  hydra_help:
    template: 'Hydra (${hydra.runtime.version})

      See https://hydra.cc for more info.


      == Flags ==

      $FLAGS_HELP


      == Configuration groups ==

      Compose your configuration from those groups (For example, append hydra/job_logging=disabled
      to command line)


      $HYDRA_CONFIG_GROUPS


      Use ''--cfg hydra'' to Show the Hydra config.

      '
    hydra_help: ???
  hydra_logging:
    version: 1
    formatters:
      simple:
        format: '[%(asctime)s][HYDRA] %(message)s'
    handlers:
      console:
        class: logging.StreamHandler
        formatter: simple
        stream: ext://sys.stdout
    root:
      level: INFO
      handlers:
      - console
    loggers:
      logging_example:
        level: DEBUG
    disable_existing_loggers: false
  job_logging:
    version: 1
    formatters:
      simple:
        format: '[%(asctime)s][%(name)s][%(levelname)s] - %(message)s'
    handlers:
      console:
        class: logging.StreamHandler
        formatter: simple
        stream: ext://sys.stdout
      file:
        class: logging.FileHandler
        formatter: simple
        filename: ${hydra.runtime.output_dir}/${hydra.job.name}.log
    root:
      level: INFO
      handlers:
      - console
      - file
    disable_existing_loggers: false
  env: {}
  mode: MULTIRUN
  searchpath: []
  callbacks: {}
  output_subdir: .hydra
  overrides:
    hydra:
    - hydra.mode=MULTIRUN
    task:
    - lr=0.2
  job:
    name: train
    chdir: null
    override_dirname: lr=0.2
    id: '1'
    num: 1
    config_name: config
    env_set: {}
    env_copy: []
    config:
      override_dirname:
        kv_sep: '='
        item_sep: ','
        exclude_keys: []
  runtime:
    version: 1.3.8
    version_base: '1.3'
    cwd: /home/someone/project
    config_sources:
    - path: hydra.conf
      schema: pkg
      provider: hydra
    - path: /home/someone/project/conf
      schema: file
      provider: main
    - path: ''
      schema: structured
      provider: schema
    output_dir: @OUTPUT@
    choices:
      hydra/env: default
      hydra/callbacks: null
      hydra/job_logging: default
      hydra/hydra_logging: default
      hydra/hydra_help: default
      hydra/help: default
      hydra/sweeper: basic
      hydra/launcher: basic
      hydra/output: default
  verbose: false
"""


def make_hydra_outputs(path: Path, jobs: int, params: int = 60) -> Path:
    """`path/outputs/D/T/` for nine tenths of the jobs, `path/multirun/D/T/N` (20 a sweep) for the others.

    Every tenth job has a traceback in its log, every other has a metrics.json. Returns `path`.
    """
    began = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    config_tail = "".join(
        f"group{number // 10}_{number}:\n  value: {number}.5\n  name: thing{number}\n"
        for number in range(params // 2 - 1)
    )
    for number in range(jobs):
        moment = began + datetime.timedelta(minutes=13 * number)
        day, clock = moment.strftime("%Y-%m-%d"), moment.strftime("%H-%M-%S")
        if number % 10 == 9:
            sweep = began + datetime.timedelta(minutes=13 * (number // 200))
            folder = (
                path / "multirun" / sweep.strftime("%Y-%m-%d") / sweep.strftime("%H-%M-%S") / str(number // 10 % 20)
            )
        else:
            folder = path / "outputs" / day / clock
        inner = folder / ".hydra"
        inner.mkdir(parents=True)
        (inner / "config.yaml").write_text(f"lr: {1e-4 * (number % 50 + 1)}\nseed: {number}\n{config_tail}")
        (inner / "overrides.yaml").write_text(f"- lr={1e-4 * (number % 50 + 1)}\n- seed={number}\n")
        (inner / "hydra.yaml").write_text(_HYDRA_YAML.replace("@OUTPUT@", str(folder)))
        stamp = moment.strftime("%Y-%m-%d %H:%M:%S,000")
        log = f"[{stamp}][__main__][INFO] - epoch 1: loss 0.5\n" * 20
        if number % 10 == 0:
            log += (
                f'Traceback (most recent call last):\n  File "train.py", line 3, in main\nValueError: shapes {number}\n'
            )
        elif number % 2:
            (folder / "metrics.json").write_text(f'{{"val_loss": {0.5 + number % 100 / 1000}, "val_f1": 0.8}}')
        (folder / "train.log").write_text(log)
        when = moment.timestamp()
        for file in (*inner.iterdir(), *(each for each in folder.iterdir() if each.is_file())):
            os.utime(file, (when, when))
        os.utime(folder, (when, when))
    for place in (*path.rglob("20*"), path / "outputs", path / "multirun"):
        if place.is_dir():
            os.utime(place, (began.timestamp(), began.timestamp()))
    return path
