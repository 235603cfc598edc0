//! `homolog solve` on a list of all pairs says what it says of the table.

use std::process::Command;

#[test]
fn the_proof_of_a_list_is_said_as_that_of_its_table_is() {
    let folder = tempfile::tempdir().unwrap();
    let solve = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_homolog"))
            .current_dir(folder.path())
            .arg("solve")
            .args(arguments)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let mut said = 0;
    for (count, constant) in [(5, 0.0), (5, 1e15), (12, 1e15), (25, 1e15)] {
        let cost = |i: usize, k: usize| {
            (((i * 7919 + k * 104_729) % 1009) as f64).sqrt() + if k == 0 { constant } else { 0.0 }
        };
        let cell = |(i, k)| format!("{i},{k},{}\n", cost(i, k));
        let list: String = (0..count).flat_map(|i| (0..count).map(move |k| (i, k))).map(cell).collect();
        let row = |i| (0..count).map(|k| cost(i, k).to_string()).collect::<Vec<_>>().join(",") + "\n";
        let table: String = (0..count).map(row).collect();
        std::fs::write(folder.path().join("list.csv"), format!("left,right,cost\n{list}")).unwrap();
        std::fs::write(folder.path().join("table.csv"), table).unwrap();
        let bound = |file: &str| {
            let text = solve(&[file]);
            text.lines().find(|line| line.starts_with("bound")).unwrap().to_string()
        };
        assert_eq!(bound("list.csv"), bound("table.csv"), "{count} {constant}");
        let is_open = bound("list.csv").contains("but for rounding: no matching is better by more than");
        assert!(constant > 0.0 || !is_open);
        said += usize::from(is_open);
        let value: serde_json::Value = serde_json::from_str(&solve(&["list.csv", "--json"])).unwrap();
        assert_eq!(value["tolerance"].as_f64().is_some_and(|tolerance| tolerance > 0.0), is_open, "{value}");
    }
    assert!(said > 0, "no tolerance was worth saying");
}
