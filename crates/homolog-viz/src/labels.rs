//! Where a label goes: next to its point, inside its frame, not on top of anything that matters.

/// A rectangle on the page: left, top, right, bottom.
pub(crate) type Area = [f64; 4];

/// Which positions around a point are tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The first of eight positions around a point, then of the same a little further away, that is free and inside; failing that, the one
/// that overlaps least, and by how much.
pub(crate) fn place(
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    side: Side,
    inside: Area,
    taken: &[Area],
    gaps: &[f64],
) -> (Area, f64) {
    let mut best = ([x, y, x + width, y + height], f64::INFINITY);
    for &away in gaps {
        let (mut near, mut far) = (x + away, x - away - width);
        if side == Side::Left {
            std::mem::swap(&mut near, &mut far);
        }
        let middle = x - width / 2.0;
        let (above, below, level) = (y - away - height, y + away, y - height / 2.0);
        let corners = [
            (near, above),
            (near, below),
            (far, above),
            (far, below),
            (near, level),
            (far, level),
            (middle, above),
            (middle, below),
        ];
        for (left, top) in corners {
            let area = [left, top, left + width, top + height];
            let outside = width * height - overlap(area, inside);
            let cost = taken.iter().map(|&other| overlap(area, other)).sum::<f64>() + 10.0 * outside;
            if cost < best.1 - 1e-9 {
                // Less than a hundredth of a pixel is rounding.
                best = (area, if cost < 0.01 { 0.0 } else { cost });
            }
        }
    }
    best
}

/// The position level with a point, on its outer side.
pub(crate) fn level((x, y): (f64, f64), (width, height): (f64, f64), side: Side, away: f64) -> Area {
    let left = if side == Side::Left { x - away - width } else { x + away };
    [left, y - height / 2.0, left + width, y + height / 2.0]
}

/// How much of the page two rectangles share.
pub(crate) fn overlap(a: Area, b: Area) -> f64 {
    (a[2].min(b[2]) - a[0].max(b[0])).max(0.0) * (a[3].min(b[3]) - a[1].max(b[1])).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_takes_a_free_place_inside() {
        let (point, inside, gaps) = ((380.0, 10.0), [0.0, 0.0, 400.0, 300.0], [8.0, 16.0]);
        let (free, cost) = place(point, (80.0, 13.0), Side::Right, inside, &[], &gaps);
        assert!(cost == 0.0 && free[2] <= 400.0 && free[1] >= 0.0, "{free:?}");
        let (next, cost) = place(point, (80.0, 13.0), Side::Right, inside, &[free], &gaps);
        assert!(cost == 0.0 && overlap(free, next) == 0.0);
        let (left, _) = place((200.0, 150.0), (80.0, 13.0), Side::Left, inside, &[], &gaps);
        assert!(left[2] < 200.0);
        // If everything is taken it says so.
        assert!(place(point, (80.0, 13.0), Side::Right, inside, &[inside], &gaps).1 > 0.0);
    }
}
