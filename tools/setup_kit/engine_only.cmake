# Read by CMake while it configures llama-cpp-python (see engine_wheel.py).
# Its build file forces llama.cpp's "common" library on: more than fifty slow files that only the
# command-line programs use. A plain variable wins over that forced cache entry, so this leaves it
# out and takes the build from 193 steps to 83. The Python bindings load libllama alone.
set(LLAMA_BUILD_COMMON OFF)
