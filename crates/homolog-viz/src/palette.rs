//! Colours and marker shapes that can be told apart by colour-blind readers and in greyscale print.
//!
//! Series colours are those of Okabe and Ito without the yellow, which vanishes on white, then a grey and Tol's wine. Every series also has a
//! marker shape.
//! Signed values run from blue through white to red.

use crate::svg::Canvas;

/// Colours of series, in order.
pub(crate) const SERIES: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#882255"];
/// What is right and what is wrong.
pub(crate) const RIGHT: &str = "#0072b2";
pub(crate) const WRONG: &str = "#d5202a";
/// The true and the found outline of a scene.
pub(crate) const TRUE_OUTLINE: &str = "#00a878";
pub(crate) const FOUND_OUTLINE: &str = "#d5202a";
/// Grid lines and axes.
pub(crate) const GRID: &str = "#e4e7eb";
pub(crate) const AXIS: &str = "#8c959f";

/// The number of a series: its place in a list of names that several charts share, or else in its own chart.
pub(crate) fn number(names: &[String], name: &str, k: usize) -> usize {
    names.iter().position(|other| other == name).unwrap_or(names.len() + k)
}

/// The colour of the k-th series.
pub(crate) fn series(k: usize) -> &'static str {
    SERIES[k % SERIES.len()]
}

/// Draws the marker of the k-th series: seven shapes, white rim.
pub(crate) fn marker(canvas: &mut Canvas, k: usize, (x, y): (f64, f64)) {
    let style = format!(r##"class="marker" fill="{}" stroke="#fff" stroke-width="1""##, series(k));
    let polygon = |shape: &[(f64, f64)]| shape.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>();
    // Eight colours and seven shapes: combinations do not repeat before 56.
    match k % 7 {
        0 => canvas.circle((x, y), 4.5, &style),
        1 => canvas.rect((x - 4.0, y - 4.0), (8.0, 8.0), &style),
        2 => canvas.polygon(&polygon(&[(0.0, -5.5), (5.0, 3.5), (-5.0, 3.5)]), &style),
        3 => canvas.polygon(&polygon(&[(0.0, -5.8), (5.8, 0.0), (0.0, 5.8), (-5.8, 0.0)]), &style),
        4 => canvas.polygon(&polygon(&[(0.0, 5.5), (5.0, -3.5), (-5.0, -3.5)]), &style),
        5 => canvas.polygon(&polygon(&[(-5.0, -2.2), (5.0, -2.2), (5.0, 2.2), (-5.0, 2.2)]), &style),
        _ => canvas.polygon(&polygon(&[(-2.2, -5.0), (2.2, -5.0), (2.2, 5.0), (-2.2, 5.0)]), &style),
    }
}

/// A colour for a value from -1 (blue) through 0 (white) to 1 (red); values outside get the end colours.
pub(crate) fn diverging(value: f64) -> String {
    // Anchors at 0, 1/4, 1/2, 3/4, 1 on either side; the same lightness left and right.
    const BLUE: [[f64; 3]; 5] = [
        [247.0, 247.0, 247.0],
        [209.0, 229.0, 240.0],
        [146.0, 197.0, 222.0],
        [67.0, 147.0, 195.0],
        [33.0, 102.0, 172.0],
    ];
    const RED: [[f64; 3]; 5] =
        [[247.0, 247.0, 247.0], [253.0, 219.0, 199.0], [244.0, 165.0, 130.0], [214.0, 96.0, 77.0], [178.0, 24.0, 43.0]];
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1.0, 1.0) };
    let side = if value < 0.0 { BLUE } else { RED };
    let place = value.abs() * 4.0;
    let step = (1..4).filter(|&k| place >= f64::from(k)).count();
    let share = place - step as f64;
    let [r, g, b] = [0, 1, 2].map(|c| byte(side[step][c] + share * (side[step + 1][c] - side[step][c])));
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
fn byte(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diverging_scale_has_white_in_the_middle_and_ends_where_it_should() {
        assert_eq!(diverging(0.0), "#f7f7f7");
        assert_eq!(diverging(f64::NAN), "#f7f7f7");
        assert_eq!(diverging(-1.0), "#2166ac");
        assert_eq!(diverging(7.0), "#b2182b");
        assert_eq!(diverging(0.25), "#fddbc7");
    }

    #[test]
    fn neighbouring_series_differ_in_colour_and_shape() {
        let drawn = |k: usize| {
            let mut canvas = Canvas::new(20.0, 20.0, "");
            marker(&mut canvas, k, (10.0, 10.0));
            canvas.finish()
        };
        let all: std::collections::BTreeSet<String> = (0..49).map(drawn).collect();
        assert_eq!(all.len(), 49);
    }
}
