//! Axes: a range that contains every value it is given, with a little room, and ticks at round numbers.
//!
//! Values that are not finite (or not positive on a logarithmic axis) are left out. No values, one value, equal values and ranges up to
//! the largest doubles all give a usable axis with `low < high`.

/// The largest magnitude used as it is; beyond it, differences would overflow.
const LARGEST: f64 = 1e300;
/// Free room beyond the outermost values, as a share of the range.
const ROOM: f64 = 0.04;

/// A range and its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// Value and label, in order.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An even axis that contains all values, and zero too if `with_zero` says so.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>, with_zero: bool) -> Self {
        let (mut low, mut high) = extent(values).unwrap_or((0.0, 1.0));
        if with_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high - low <= high.abs().max(low.abs()) * 1e-12 {
            let pad = if high == 0.0 { 1.0 } else { (high.abs() * 0.1).max(1e-300) };
            (low, high) = if with_zero || low == 0.0 { (low, high + pad) } else { (low - pad, high + pad) };
        }
        let room = (high - low) * ROOM;
        let (low, high) = (low - room, high + room);
        Self { low, high, log: false, ticks: even_ticks(low, high) }
    }

    /// An even axis with the given ticks and half a step of room at both ends; also for values between and outside them.
    pub(crate) fn with_ticks(ticks: &[(f64, String)], values: impl IntoIterator<Item = f64>) -> Self {
        let ticks: Vec<(f64, String)> =
            ticks.iter().filter(|(at, _)| at.is_finite() && at.abs() <= LARGEST).cloned().collect();
        let axis = Self::linear(ticks.iter().map(|&(at, _)| at).chain(values), false);
        Self { ticks, ..axis }
    }

    /// A logarithmic axis that contains all positive values.
    pub(crate) fn logarithmic(values: impl IntoIterator<Item = f64>, label: fn(f64) -> String) -> Self {
        let positive = values.into_iter().filter(|&value| value >= 1e-300);
        let (low, high) = extent(positive).map_or((-1.0, 0.0), |(low, high)| (low.log10(), high.log10()));
        let room = ((high - low) * ROOM).max(0.15);
        let (low, high) = (low - room, high + room);
        Self { low, high, log: true, ticks: log_ticks(low, high, label) }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end; clamped for values that the axis was not made for.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let value = if self.log { value.max(1e-300).log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Whether the axis can show a value at all.
    pub(crate) fn shows(&self, value: f64) -> bool {
        value.is_finite() && value.abs() <= LARGEST && (!self.log || value >= 1e-300)
    }
}

fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let usable = values.into_iter().filter(|value| value.is_finite() && value.abs() <= LARGEST);
    usable.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Three to nine ticks at multiples of 1, 2 or 5 times a power of ten.
fn even_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 9.0;
    let power = power_of_ten(rough.max(1e-306).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|&step| step >= rough).unwrap_or(rough);
    let first = (low / step).ceil();
    let ticks = (0..12).map(|k| (first + f64::from(k)) * step).take_while(|&tick| tick <= high);
    // Adding zero turns a negative zero into a positive one.
    ticks.map(|tick| tick + 0.0).map(|tick| (tick, even_label(tick, step))).collect()
}

/// Decades, thinned out to at most nine; on a short axis also 2 and 5 times each.
fn log_ticks(low: f64, high: f64, label: fn(f64) -> String) -> Vec<(f64, String)> {
    let decades = high.floor() - low.ceil() + 1.0;
    let stride = (decades / 9.0).ceil().max(1.0);
    let factors: &[f64] = if decades < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let mut ticks = Vec::new();
    for k in 0..=12 {
        let decade = (low / stride).floor() * stride + f64::from(k) * stride;
        for factor in factors {
            let tick = factor * power_of_ten(decade);
            if (low..=high).contains(&tick.max(1e-306).log10()) {
                ticks.push((tick, label(tick)));
            }
        }
    }
    ticks
}

/// Ten to a whole power, exactly as the compiler would read it.
fn power_of_ten(exponent: f64) -> f64 {
    format!("1e{}", exponent.clamp(-306.0, 306.0)).parse().unwrap_or(1.0)
}

/// A tick of an even axis, with as many decimals as its step needs; very large and small ones with a power of ten.
fn even_label(tick: f64, step: f64) -> String {
    let magnitude = step.log10().floor();
    if tick.abs() >= 1e6 || magnitude < -5.0 {
        return short_label(tick);
    }
    let decimals = (0..6).take_while(|&d| magnitude < -f64::from(d)).count();
    minus(&format!("{tick:.decimals$}"))
}

/// A number as 10⁻⁶, 2×10⁹ or, near one, 0.01 and 500.
pub(crate) fn power_label(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || (1e-3..1e4).contains(&value.abs()) {
        return minus(&format!("{value}"));
    }
    let scientific = format!("{value:.1e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let raised = exponent.chars().map(superscript).collect::<String>();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("−10{raised}"),
        _ => minus(&format!("{mantissa}×10{raised}")),
    }
}

/// A number rounded to four digits.
pub(crate) fn short_label(value: f64) -> String {
    power_label(format!("{value:.3e}").parse().unwrap_or(value))
}

/// A duration with its unit: 20 µs, 5 ms, 1 s, 1000 s.
pub(crate) fn time_label(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if !(1e-10..1e7).contains(&seconds) => return format!("{} s", power_label(seconds)),
        _ if seconds < 0.999e-6 => (seconds * 1e9, "ns"),
        _ if seconds < 0.999e-3 => (seconds * 1e6, "µs"),
        _ if seconds < 0.999 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let text = format!("{value:.2}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn superscript(letter: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    letter.to_digit(10).and_then(|digit| RAISED.get(digit as usize)).copied().unwrap_or('⁻')
}

/// The typographic minus sign.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&Axis::linear([0.0, 0.5], true)), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(&Axis::linear([-3.0, 3.0], false)), ["−3", "−2", "−1", "0", "1", "2", "3"]);
        assert_eq!(labels(&Axis::linear([0.0, 90.0], false)), ["0", "20", "40", "60", "80"]);
        let time = Axis::logarithmic([3e-6, 0.2], time_label);
        assert_eq!(labels(&time), ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]);
        assert_eq!(labels(&Axis::logarithmic([1e-9, 1.0], power_label)).len(), 5);
    }

    #[test]
    fn labels_read_well() {
        for (value, text) in [(1e-6, "10⁻⁶"), (-2e9, "−2×10⁹"), (0.01, "0.01"), (500.0, "500"), (0.0, "0")] {
            assert_eq!(power_label(value), text);
        }
        assert_eq!(short_label(1.234_567), "1.235");
        for (value, text) in
            [(2e-5, "20 µs"), (5e-3, "5 ms"), (1.0, "1 s"), (1e3, "1000 s"), (5e-8, "50 ns"), (1e9, "10⁹ s")]
        {
            assert_eq!(time_label(value), text);
        }
    }

    #[test]
    fn odd_input_gives_an_axis_all_the_same() {
        let huge = f64::MAX;
        let cases: [&[f64]; 9] = [
            &[],
            &[f64::NAN],
            &[f64::INFINITY],
            &[0.0],
            &[5.0, 5.0],
            &[-huge, huge],
            &[1e-320],
            &[1e300, -1e300],
            &[1e16, 1e16 + 2.0],
        ];
        for values in cases {
            for axis in [
                Axis::linear(values.iter().copied(), false),
                Axis::linear(values.iter().copied(), true),
                Axis::logarithmic(values.iter().copied(), power_label),
                Axis::with_ticks(&[(f64::NAN, "a".into()), (1.0, "b".into())], values.iter().copied()),
            ] {
                assert!(axis.low < axis.high && (axis.high - axis.low).is_finite(), "{values:?}: {axis:?}");
                assert!(axis.ticks.iter().all(|(tick, _)| tick.is_finite()), "{values:?}: {axis:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_value_lies_strictly_inside_and_ticks_are_few(
            values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..20), zero: bool,
        ) {
            let axis = Axis::linear(values.iter().copied(), zero);
            let log = Axis::logarithmic(values.iter().copied(), time_label);
            prop_assert!(axis.ticks.len() <= 12 && log.ticks.len() <= 36);
            for value in values {
                for axis in [&axis, &log] {
                    if axis.shows(value) {
                        prop_assert!(axis.share(value) > 0.0 && axis.share(value) < 1.0, "{value} {axis:?}");
                    }
                }
            }
        }

        #[test]
        fn ordinary_ranges_have_at_least_three_different_ticks(low in -1e3..1e3, span in 1e-3..1e3) {
            let axis = Axis::linear([low, low + span], false);
            let different: std::collections::BTreeSet<&str> = labels(&axis).into_iter().collect();
            prop_assert!(different.len() >= 3 && different.len() == axis.ticks.len(), "{axis:?}");
        }
    }
}
