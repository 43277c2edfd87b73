"""Threads of products that are more than the cores, or have too little to do, are noticed once."""

import logging
import os
import sys

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.nn import threads
from sourcead.nn.threads import SMALL, advise_on_threads, available_cores, blas_threads, conflict
from sourcead.nn.training import fit


@pytest.fixture
def machine(monkeypatch):
    """A machine of eight cores, of which a load can be set, in a process that was not advised."""
    monkeypatch.setattr(threads, "_advised", False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)

    def set_load(load):
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)

    set_load(0.0)
    return set_load


@pytest.mark.parametrize(
    "count, cores, multiplications, load, problem",
    [
        (1, 1, 10, 9.0, ""),
        (4, 4, None, 0.0, ""),
        (4, 2, None, 0.0, "this process may use 2"),
        (2, 8, None, 7.0, "busy (load 7.0 on 8)"),
        (8, 8, 100, 0.0, "small"),
        (8, 8, 8 * SMALL, 0.0, ""),
        (2, 8, 100, 0.0, ""),
    ],
)
def test_threads_that_slow_each_other_down_are_a_conflict(count, cores, multiplications, load, problem, machine):
    machine(load)
    found = conflict(count, cores, multiplications)
    assert problem in found if problem else found is None


def test_advice_is_one_line_and_given_once(machine, monkeypatch, caplog):
    monkeypatch.setattr(threads, "blas_threads", lambda: 8)
    monkeypatch.setattr(threads, "available_cores", lambda: 2)
    with caplog.at_level(logging.WARNING, "sourcead"):
        line = advise_on_threads()
        assert advise_on_threads() is None
    assert caplog.messages == [line] and "\n" not in line and "OPENBLAS_NUM_THREADS=1" in line


def test_training_advises(machine, monkeypatch, caplog):
    monkeypatch.setattr(threads, "blas_threads", lambda: 8)
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    loss = value_and_grad(lambda p, x: np.mean((x @ p) ** 2))
    fit(loss, np.ones((3, 2)), (np.ones((4, 3)),), epochs=1, batch=2, progress=False)
    assert len(caplog.messages) == 1 and "small" in caplog.messages[0]


def test_without_threadpoolctl_the_environment_tells(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setattr(threads, "_allowed_cores", lambda: 5)
    assert blas_threads({"OMP_NUM_THREADS": "3"}) == 3
    assert blas_threads({"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "2"}) == 2
    assert blas_threads({"OPENBLAS_NUM_THREADS": "many"}) == blas_threads({}) == 5


def test_threadpoolctl_tells_what_runs():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    with threadpoolctl.threadpool_limits(1, "blas"):
        assert blas_threads({"OMP_NUM_THREADS": "7"}) == 1


@pytest.mark.parametrize(
    "files, cores",
    [
        ({}, 6),
        ({"cpu.max": "max 100000\n"}, 6),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 6),
        ({"cpu.max": "unreadable"}, 6),
    ],
)
def test_quota_of_a_control_group_limits_the_cores(files, cores, tmp_path, machine, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(6), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_cores(tmp_path) == cores
