//! Files made byte by byte, for each of the three processors, with whole numbers and with floats.

use super::*;

/// Numbers as a processor writes them.
struct Pen(Processor);

impl Pen {
    fn word(&self, value: i16) -> Vec<u8> {
        if self.0 == Processor::Mips { value.to_be_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
    }

    fn float(&self, value: f32) -> Vec<u8> {
        match self.0 {
            Processor::Intel => value.to_le_bytes().to_vec(),
            Processor::Mips => value.to_be_bytes().to_vec(),
            Processor::Dec => {
                let [a, b, c, d] = (value * 4.0).to_le_bytes();
                vec![c, d, a, b]
            }
        }
    }

    /// A record with its link to the next one.
    fn record(&self, name: &str, group: i8, body: &[u8]) -> Vec<u8> {
        let length = u8::try_from(name.len()).unwrap();
        let link = self.word(i16::try_from(body.len() + 2).unwrap());
        [&[length, group.cast_unsigned()], name.as_bytes(), &link, body].concat()
    }

    fn texts(&self, name: &str, texts: &[&str]) -> Vec<u8> {
        let width = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let mut body = vec![255, 2, u8::try_from(width).unwrap(), u8::try_from(texts.len()).unwrap()];
        texts.iter().for_each(|text| body.extend(format!("{text:width$}").bytes()));
        body.push(0);
        self.record(name, 1, &body)
    }

    /// Two frames, from frame 5 on, of four points; the second is not seen in the first frame. One analog sample per frame.
    fn file(&self, floats: bool) -> Vec<u8> {
        let scale: f32 = if floats { -1.0 } else { 0.5 };
        let mut file = vec![2, KEY];
        for value in [4, 1, 5, 6, 0] {
            file.extend(self.word(value));
        }
        file.extend(self.float(scale));
        file.extend(self.word(4));
        file.extend(self.word(1));
        file.extend(self.float(50.0));
        file.resize(BLOCK, 0);
        let processor = match self.0 {
            Processor::Intel => 84,
            Processor::Dec => 85,
            Processor::Mips => 86,
        };
        file.extend([1, KEY, 2, processor]);
        file.extend(self.record("POINT", -1, &[0]));
        file.extend(self.texts("LABELS", &["HEAD", "R.HEEL", "*12", "LKneeAngles"]));
        file.extend(self.texts("ANGLES", &["LKneeAngles"]));
        file.extend(self.texts("UNITS", &["mm"]));
        file.extend(self.record("RATE", 1, &[&[4, 0][..], &self.float(50.0), &[0]].concat()));
        file.resize(3 * BLOCK, 0);
        for frame in 0..2_i16 {
            for point in 0..4_i16 {
                let residual = if (frame, point) == (0, 1) { -1 } else { 3 };
                for value in [10 * point + frame, 100, -20, residual] {
                    file.extend(if floats { self.float(f32::from(value)) } else { self.word(value) });
                }
            }
            file.extend(if floats { self.float(7.0) } else { self.word(7) });
        }
        file
    }
}

#[test]
fn points_are_read_as_every_processor_writes_them() {
    for processor in [Processor::Intel, Processor::Dec, Processor::Mips] {
        for floats in [true, false] {
            let mut notes = Vec::new();
            let frames = read(&Pen(processor).file(floats), &mut notes).unwrap();
            assert_eq!(frames.iter().map(|named| named.id.as_str()).collect::<Vec<_>>(), ["5", "6"]);
            assert_eq!(notes, [Note::Computed { points: 1 }]);
            let scale = if floats { 1.0 } else { 0.5 };
            let [first, second] = [&frames[0].graph, &frames[1].graph];
            assert_eq!(first.names().unwrap(), ["HEAD", ""]);
            assert_eq!(second.names().unwrap(), ["HEAD", "R.HEEL", ""]);
            let expected = ndarray::array![[1.0, 100.0, -20.0], [11.0, 100.0, -20.0], [21.0, 100.0, -20.0]] * scale;
            assert_eq!(second.points().unwrap(), expected);
            assert_eq!((first.time(), second.time(), first.unit()), (Some(0.08), Some(0.1), Some("mm")));
        }
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let whole = Pen(Processor::Intel).file(true);
    for end in 0..whole.len() {
        assert!(read(&whole[..end], &mut Vec::new()).is_err(), "cut off at {end}");
    }
    let error = read(&whole[..whole.len() - 1], &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "C3D: the file ends after 1 of 2 frames");
}
