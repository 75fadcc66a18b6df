"""What the scenarios talk about. Long enough that going on from it is plainly cheaper than reading
it; plain enough that a small model writes more than one word."""

RULES = """You are one of several people who mend a command line program. It reads a list of
parcels, works out the cheapest van for each, and prints a timetable. Rules of the house: say what
you will change before you change it; keep to the part you were given; never touch a file that
another part owns; write short sentences; give file names in full; end with what is left to do.
The files are parcels.py, which reads the list, vans.py, which knows the vans and their prices,
timetable.py, which prints, and tests.py, which checks all three. The list has one parcel a line:
its weight in kilograms, the town it goes to, and the day it must be there."""

TASK = """The program stops when a town is written with a space in it, such as New Quay, and it
prints the days in the wrong order when a week has a holiday. Make a plan in numbered steps."""

COUNT = "Count from one to twelve in words, separated by commas."
