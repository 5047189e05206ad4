//! The blocks of commands that a page shows, as they stand there.

/// Pages whose blocks have no mark say nothing about whether they are commands.
const MARKS: [&str; 5] = ["sh", "text", "rust", "toml", "json"];

/// The lines between fences marked `sh`, block by block.
pub(crate) fn commands(page: &str) -> Result<Vec<Vec<&str>>, String> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut inside: Option<(&str, Vec<&str>)> = None;
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), &mut inside) {
            (Some(mark), None) if MARKS.contains(&mark.trim()) => {
                inside = Some((mark.trim(), Vec::new()));
            }
            (Some(mark), None) => {
                return Err(format!("a block is marked {mark:?}, not one of {MARKS:?}"));
            }
            (Some(_), Some(_)) => {
                let block = inside.take().filter(|(mark, _)| *mark == "sh");
                blocks.extend(block.map(|(_, lines)| lines));
            }
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    Ok(blocks)
}
