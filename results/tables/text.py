"""How figures are written: durations, factors, and which side is faster."""


def duration(seconds):
    for unit, scale in (("µs", 1e6), ("ms", 1e3), ("s", 1.0)):
        text = f"{seconds * scale:.3g}"
        if float(text) < 1000:
            return f"{text} {unit}"


def factor(value):
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def bound(value):
    """An end of an interval; near 1 with the digits that show on which side of 1 it is."""
    if value >= 2:
        return factor(value)
    return next(text for text in (f"{value:.{digits}f}" for digits in range(2, 17)) if float(text) != 1 or value == 1)


def side(ratio):
    """The faster side and its speed-up; no side where the interval includes 1."""
    value, low, high = (ratio[key] for key in ("value", "low", "high"))
    text = f"{'GPU' if value >= 1 else 'CPU'} {factor(max(value, 1 / value))}x"
    return f"even ({text})" if low <= 1 <= high else text


def with_interval(ratio, has_grade_d):
    """As `side`, with the 95 % interval of the speed-up; an exclamation mark where one of the times has grade D."""
    low, high = ratio["low"], ratio["high"]
    if ratio["value"] < 1:
        low, high = 1 / high, 1 / low
    if low < 1 < high:
        first, second = ("CPU", "GPU") if ratio["value"] < 1 else ("GPU", "CPU")
        return f"{first} {factor(max(ratio['value'], 1 / ratio['value']))}x? [{second} {bound(1 / low)}x–{first} {bound(high)}x]"
    mark = "!" if has_grade_d and not low <= 1 <= high else ""
    return f"{side(ratio)}{mark} [{bound(low)}–{bound(high)}]"
