# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Facts about the machine and the programs that a reader needs to judge a figure."""

import os
import pathlib
import platform
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(("model name", "Model", "cpu model")):
            return line.partition(":")[2].strip()
    return platform.machine()


def is_virtual():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return " hypervisor" in text


def memory_gib():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)


def idle_seconds():
    """Returns how many seconds all CPUs together were idle since the machine started."""
    words = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    return int(words[4]) / os.sysconf("SC_CLK_TCK")


def system_name():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def commit():
    try:
        done = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], text=True,
                              capture_output=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def build_type(build):
    """Returns CMake's build type with the sanitizers, or "unknown" for a build of another kind."""
    try:
        lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    cache = {line.partition(":")[0]: line.partition("=")[2] for line in lines}
    words = [cache.get("CMAKE_BUILD_TYPE") or "no optimisation", cache.get("NAILUP_SANITIZE", "")]
    return " ".join(word for word in words if word and word != "OFF")


def gathered(cpus, build):
    """Gathers the facts. Call it before any program starts, so that the load comes from other programs only."""
    server, load, upstream = cpus
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "system": system_name(), "kernel": platform.release(), "cpu": cpu_model(),
        "cpus": os.cpu_count(), "virtual": is_virtual(), "memory_gib": round(memory_gib(), 1),
        "load_before": os.getloadavg()[0], "commit": commit(),
        "build_type": build_type(build),
        "pinning": f"servers on CPU {server}, load on {load}, upstream and cable on {upstream}",
        "command": shlex.join(["bench/compare/run", *sys.argv[1:]]),
    }


def machine_line(facts):
    kind = "virtual " if facts["virtual"] else ""
    return (f"{facts['cpu']}, {facts['cpus']} {kind}CPUs, {facts['memory_gib']:.0f} GiB, "
            f"{facts['system']}, Linux {facts['kernel']}")
