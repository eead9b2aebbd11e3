"""What a job says, and to whom."""

import os
import subprocess
import sys

import pytest


@pytest.mark.fault("Surroundings", "a terminal that is closed while a job reports", "the job goes on")
def test_a_job_whose_terminal_is_gone_goes_on(tmp_path):
    program = (
        "from entrolab.joblog import Progress, job_log\n"
        "with job_log('job.log', 'train'):\n"
        "    Progress('train', every=0)(1, 2)\n"
        "    open('result', 'w').close()"
    )
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stderr=writer, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert (tmp_path / "result").exists()
    assert "train: 1 of 2 fits, 50 %" in (tmp_path / "job.log").read_text(encoding="utf-8")
