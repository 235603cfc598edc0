//! What every command prints, its help, and how it exits; and the stories of docs/stories, whose commands are run. After a change that is meant: `TRYCMD=overwrite cargo test -p homolog-cli`,
//! then read the difference.

#[test]
fn commands_print_what_they_did() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("../../docs/stories/*.md");
}
