"""Build hook: the files of the workflow that an installed entrolab needs, as the folder `project`."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Paths in the repository, and in the distribution below `project`.
FILES = {
    "src/snakemake_logger_plugin_entrolab": "snakemake_logger_plugin_entrolab",
    "Snakefile": "Snakefile",
    "environment.yml": "environment.yml",
    "config": "config",
    "workflow/Snakefile": "workflow/Snakefile",
    "workflow/profiles": "workflow/profiles",
    "workflow/report": "workflow/report",
    "workflow/rules": "workflow/rules",
    "workflow/scripts": "workflow/scripts",
}


class WorkflowFiles(BuildHookInterface):
    """Add the workflow to sdists and wheels. An editable installation uses the checkout."""

    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        unpacked = root / "project"  # of an sdist
        sources = {
            target: unpacked / target if unpacked.is_dir() else root.parents[1] / source
            for source, target in FILES.items()
        }
        build_data["force_include"] |= {str(path): f"project/{target}" for target, path in sources.items()}
