"""A child of `sweepsort bench`: the sort of torch or of CuPy, asked line by line on stdin.

    load TYPE N PATH    puts the N keys of a raw file on the device
    sort                sorts them; answers the seconds
    argsort             finds the index that sorts them; answers the seconds
    unload              gives back the memory of keys and output
    store PATH          writes what came out last, keys or the index as u32, to a raw file
    quit

Each line is answered by one: `ok`, with what is asked for, or `error` and the reason. The first
answer comes unasked: it says the version. Times are those between two events on the device; where a
sort works in place, the keys are restored before the first of them.
"""

import os
import sys

NAMES = {
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "bool": "bool",
}


def has(package, key):
    """The package's type for one of ours."""
    name = NAMES.get(key, key)
    # NumPy's bool has had an underscore for long.
    for name in (name, name + "_"):
        if found := getattr(package, name, None):
            return found
    raise TypeError(f"{package.__name__} {package.__version__} has no {key}")


class Torch:
    """torch.sort, which makes values and indices at once, and leaves its input as it is."""

    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("torch finds no CUDA device")
        self.package = torch
        self.keys = self.out = None

    def load(self, key, path):
        torch, kind = self.package, has(self.package, key)
        self.unload()
        # As bytes: not every type can be read from a file.
        data = torch.from_file(path, size=os.path.getsize(path), dtype=torch.uint8)
        self.keys = data.cuda().view(kind)

    def unload(self):
        self.keys = self.out = None
        self.package.cuda.empty_cache()

    def sort(self):
        return self.timed(lambda: self.package.sort(self.keys).values)

    def argsort(self):
        return self.timed(lambda: self.package.sort(self.keys, stable=True).indices)

    def timed(self, work):
        cuda = self.package.cuda
        self.out = None
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda.synchronize()
        start.record()
        self.out = work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def store(self, path, index):
        torch = self.package
        out = self.out.to(torch.int32) if index else self.out
        data = out.view(torch.uint8)
        # Empty at first: a longer file would keep its end.
        open(path, "wb").close()
        torch.from_file(path, shared=True, size=data.numel(), dtype=torch.uint8).copy_(data)


class CuPy:
    """CuPy's sort in place, of a copy, and its argsort, which leaves its input as it is."""

    def __init__(self):
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        self.package = cupy
        self.keys = self.out = None

    def load(self, key, path):
        cupy, kind = self.package, has(self.package, key)
        self.unload()
        self.keys = cupy.fromfile(path, dtype=cupy.uint8).view(kind)

    def unload(self):
        self.keys = self.out = None
        self.package.get_default_memory_pool().free_all_blocks()

    def sort(self):
        self.out = None
        copy = self.keys.copy()

        def work():
            copy.sort()
            return copy

        return self.timed(work)

    def argsort(self):
        self.out = None
        return self.timed(lambda: self.keys.argsort())

    def timed(self, work):
        cuda = self.package.cuda
        start, end = cuda.Event(), cuda.Event()
        cuda.Device().synchronize()
        start.record()
        self.out = work()
        end.record()
        end.synchronize()
        return cuda.get_elapsed_time(start, end) / 1e3

    def store(self, path, index):
        cupy = self.package
        out = self.out.astype(cupy.uint32) if index else self.out
        cupy.asnumpy(out).tofile(path)


class Child:
    """The answers to requests."""

    def __init__(self, name):
        self.sorter = {"torch": Torch, "cupy": CuPy}[name]()
        self.index = None

    def answer(self, request):
        word, _, rest = request.partition(" ")
        if word == "load":
            key, n, path = rest.split(" ", 2)
            self.index = None
            self.sorter.load(key, path)
            there = len(self.sorter.keys)
            if there != int(n):
                self.sorter.keys = None
                raise ValueError(f"{there} keys in the file, not {n}")
            return ""
        if word == "unload":
            self.index = None
            self.sorter.unload()
            return ""
        if self.sorter.keys is None:
            raise ValueError("no keys are loaded")
        if word in ("sort", "argsort"):
            self.index = None
            seconds = getattr(self.sorter, word)()
            self.index = word == "argsort"
            return repr(float(seconds))
        if word == "store":
            if self.index is None:
                raise ValueError("nothing has been sorted")
            self.sorter.store(rest, self.index)
            return ""
        raise ValueError(f"no request {word}")


def line(error):
    """An exception as one line."""
    words = " ".join(str(error).split())
    return (words or type(error).__name__)[:300]


def main(name):
    # Answers go to stdout alone, whatever a package prints; no package comes from this folder.
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.path[:] = [folder for folder in sys.path if folder]
    try:
        child = Child(name)
    except ImportError as error:
        why = f"python3 cannot import {name} ({line(error)}); install it where python3 looks"
        return print("error", why, file=answers)
    except Exception as error:
        return print("error", line(error), file=answers)
    print("ok", child.sorter.package.__version__, file=answers)
    for request in sys.stdin:
        request = request.rstrip("\n")
        if request == "quit":
            return
        try:
            print("ok", child.answer(request), file=answers)
        except Exception as error:
            print("error", line(error), file=answers)


if __name__ == "__main__":
    main(sys.argv[1])
