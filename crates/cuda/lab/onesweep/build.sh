#!/bin/sh
# Compiles the lab for sm_90 with the wheels of `cargo xtask kernels`: build.sh, then ./lab all 28 4+0.
set -e
cd "$(dirname "$0")"
toolkit=$(ls -d ../../../../target/kernels/venv/lib/python3*/site-packages/nvidia/cu13)
out=../../../../target/onesweep-lab
mkdir -p "$out"
for unit in unit_u32 unit_u64 unit_pairs unit_other unit_cub lab; do
    "$toolkit/bin/nvcc" -std=c++17 -O3 -arch=sm_90 -Ikernels -I"$toolkit/include/cccl" \
        -Xptxas -v -c -o "$out/$unit.o" $unit.cu
done
"$toolkit/bin/nvcc" -arch=sm_90 -cudart static -L"$toolkit/lib" -o "$out/lab" "$out"/*.o -Xlinker -s
echo "$out/lab"
