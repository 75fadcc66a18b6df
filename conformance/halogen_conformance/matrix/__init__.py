"""The kill matrix: does the suite notice every mistake that the simulator can be told to make?"""
