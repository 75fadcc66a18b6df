"""The words the simulated model knows. Some have letters of several bytes, some of four."""

_LIST = """
amber anchor answer apple arrow autumn badge bakery balance banner basket beacon bellow bench
birch blanket border bottle branch breeze bridge bright bronze brook bucket button cabin candle
canvas captain carbon carpet castle cedar cellar chapter cherry chimney circle citron clover cobalt
compass copper coral corner cotton cradle crystal current dagger daily dawn delta desert dinner
distant dolphin drawer drift eagle early earth easel echo elder ember engine evening fabric falcon
farmer feather fellow ferry field figure finger flame flint flower forest fossil fountain frost
galaxy garden garlic gather gentle ginger glacier glass golden granite gravel guitar hammer harbor
harvest hazel heather helmet hidden hollow honey horizon hunter island ivory jacket jasmine journey
jungle kernel kettle kindle ladder lantern laurel leather lemon letter linen lively lumber magnet
maple marble market meadow measure mellow method middle mirror modest morning mountain music mustard
narrow nectar needle nickel north number oasis ocean olive onion orange orbit orchard paddle paper
parcel pebble pepper picture pillow pioneer planet pocket polish pottery powder prairie quarry
quartz quiet rabbit radish raven record ribbon ripple river rocket rubber saddle saffron salmon
sandal satin season secret shadow shelter signal silver simple sister sketch slate slowly smooth
soldier spring square stable stone story summer sunset supper swallow table tailor tangle temple
tender thicket thread thunder timber tinder tunnel turtle umbrella uncle valley vanish velvet
village violet visit voyage wagon walnut water weather whistle willow window winter wonder yellow
zenith café naïve façade über smörgås crème señor piñata jalapeño Zürich 東京 茶 🌿 🧭
"""

WORDS = tuple(_LIST.split())
"""In no order that matters; a changed list is another model (it is part of the fingerprint)."""

_COMMON_LIST = """
a about after again all also an and another any are as at be because been before but by call
can could do does each even every fact few first for from get give go good had has have he her here
him his how if in into is it its just keep know last let like line list long look made make many may
me might more most much must my new next no not now of off old on one only or other our out over own
part people place please put question read reply right same say see she should show sign small so
some such system take tell text than that the their them then there these they thing think this
time to too tool two under up us use used user very want was way we well were what when where which
who why will with word work would write year yes you your assistant brief short
"""

COMMON = tuple(_COMMON_LIST.split())
"""Words of people's: one token each, as in real vocabularies."""
