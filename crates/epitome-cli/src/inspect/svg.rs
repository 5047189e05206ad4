//! The timeline as a picture.

use std::fmt::Write;

use super::timeline::Timeline;
use crate::terminal::grouped;

const WIDTH: usize = 960;
const HEIGHT: usize = 320;
const LEFT: usize = 80;
const TOP: usize = 40;
const BOTTOM: usize = 40;
const RIGHT: usize = 20;
/// Lines across the picture, the axis aside.
const LINES: u64 = 4;

/// Draws the size of the context, one `thing` (a message, a request) after the other. The same timeline gives the same
/// bytes.
pub(crate) fn draw(name: &str, thing: &str, timeline: &Timeline) -> String {
    let (inner_width, inner_height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let top = timeline.largest().max(1);
    let x = |column: usize, columns: usize| {
        LEFT as f64 + inner_width as f64 * column as f64 / columns.max(1) as f64
    };
    let y = |tokens: u64| {
        (TOP + inner_height) as f64 - inner_height as f64 * tokens as f64 / top as f64
    };
    // Writing to a string cannot fail.
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <style>:root{{--ink:#1f2328;--faint:#d0d7de;--area:#54aeff66;--line:#0969da;--mark:#bc4c00}}\
         @media(prefers-color-scheme:dark){{:root{{--ink:#e6edf3;--faint:#30363d;--area:#1f6feb55;--line:#58a6ff;--mark:#f0883e}}}}\
         text{{fill:var(--ink)}}.grid{{stroke:var(--faint)}}.mark{{stroke:var(--mark);stroke-dasharray:3 3}}\
         .area{{fill:var(--area)}}.line{{fill:none;stroke:var(--line);stroke-width:1.5}}</style>\n\
         <text x=\"{LEFT}\" y=\"20\">{}: context in tokens, {thing} by {thing}</text>",
        escaped(name),
    );
    for line in 0..=LINES {
        let tokens = top * line / LINES;
        let at = y(tokens);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8,
            at + 4.0,
            grouped(tokens),
        );
    }
    let columns = timeline.columns(inner_width);
    let mut path = String::new();
    for (at, size) in columns.iter().enumerate() {
        let verb = if at == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{verb}{:.1} {:.1}", x(at, columns.len()), y(*size));
    }
    let (end, base) = (x(columns.len().saturating_sub(1), columns.len()), y(0));
    let _ = writeln!(
        out,
        "<path class=\"area\" d=\"{path}L{end:.1} {base:.1}L{LEFT} {base:.1}Z\"/>\n\
         <path class=\"line\" d=\"{path}\"/>",
    );
    for at in &timeline.compactions {
        let at = x(*at, timeline.sizes.len());
        let _ = writeln!(
            out,
            "<line class=\"mark\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{base:.1}\"><title>compacted</title></line>",
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{0}\">1</text><text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">{2}</text>\n</svg>",
        HEIGHT - 16,
        WIDTH - RIGHT,
        grouped(timeline.sizes.len() as u64),
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}
