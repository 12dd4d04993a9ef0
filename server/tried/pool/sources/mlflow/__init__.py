"""MLflow's stores on disk: databases and `mlruns` folders."""
