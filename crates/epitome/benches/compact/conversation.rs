//! Conversations of any length: an agent at work, a chat, and a chat in many languages. The same every time.

use epitome::{Block, Call, Message, Meter, ResultPart, Role, ToolResult};

/// What a conversation is like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// Much tool traffic, few words.
    Agent,
    /// Words only.
    Chat,
    /// Words of six languages.
    Languages,
}

impl Style {
    pub(crate) const ALL: [Self; 3] = [Self::Agent, Self::Chat, Self::Languages];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Chat => "chat",
            Self::Languages => "chat, six languages",
        }
    }

    /// A conversation of about so many tokens.
    pub(crate) fn messages(self, tokens: u64) -> Vec<Message> {
        let mut draw = Draw(0x5eed_0f5e_ed0f_5eed);
        let mut messages = vec![
            Message::text(Role::System, "You are careful."),
            Message::text(
                Role::User,
                "Find out why orders are counted twice, and mend it.",
            ),
        ];
        let mut counted = 0;
        let mut turn = 0;
        while counted < tokens {
            let from = messages.len();
            match self {
                Self::Agent => work(&mut messages, &mut draw, turn),
                Self::Chat => talk(&mut messages, &mut draw, turn, &SENTENCES[..ENGLISH]),
                Self::Languages => talk(&mut messages, &mut draw, turn, &SENTENCES[ENGLISH..]),
            }
            let added = messages.iter().skip(from);
            counted += added
                .map(|message| Meter::Estimate.message(message))
                .sum::<u64>();
            turn += 1;
        }
        messages.push(Message::text(Role::User, "And what is next?"));
        messages
    }
}

/// Numbers that look drawn.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const NOUNS: [&str; 24] = [
    "order", "ledger", "parser", "queue", "invoice", "session", "cache", "index", "report",
    "worker", "schema", "token", "filter", "window", "buffer", "router", "client", "policy",
    "record", "branch", "column", "header", "signal", "budget",
];
const VERBS: [&str; 12] = [
    "load", "count", "merge", "check", "write", "split", "render", "fetch", "store", "clean",
    "retry", "trace",
];
const ENGLISH: usize = 8;
/// Sentences with a place for a name; the first are English, then come five other languages.
const SENTENCES: [&str; 24] = [
    "I looked at {} again and the numbers do not add up for the second week.",
    "Could you explain how {} decides which entries come first?",
    "Please never change {} without telling me, the other team reads it.",
    "That makes sense, thanks, although {} was slower on my machine yesterday.",
    "My sister said that {} used to work before the update in March.",
    "We should probably write down what {} expects, because nobody remembers.",
    "The result of {} is two pages long, which is more than I wanted to read.",
    "Keep {} as it is for now and look at the rest first.",
    "Ich habe mir {} noch einmal angesehen, und die Zahlen passen in der zweiten Woche nicht zusammen.",
    "Bitte ändere {} nur, wenn du mich vorher gefragt hast.",
    "Kannst du mir erklären, warum {} gestern langsamer war als sonst?",
    "Das ergibt Sinn, danke, obwohl {} auf meinem Rechner anders aussieht.",
    "He mirado {} otra vez y los números de la segunda semana no cuadran.",
    "No cambies {} sin avisarme, por favor, que lo usa el otro equipo.",
    "Mi hermana dice que {} funcionaba antes de la actualización de marzo.",
    "J'ai regardé {} encore une fois et les chiffres de la deuxième semaine ne vont pas.",
    "Ne touche pas à {} avant que je te le dise, s'il te plaît.",
    "Я ещё раз посмотрел на {}, и числа за вторую неделю не сходятся.",
    "Не меняй {} без моего разрешения, пожалуйста.",
    "我又看了一遍 {}，第二周的数字对不上。",
    "没有我的同意请不要修改 {}。",
    "{} をもう一度見ましたが、二週目の数字が合いません。",
    "許可なく {} を変更しないでください。",
    "昨日は {} がいつもより遅かった気がします。",
];

fn path(draw: &mut Draw) -> String {
    let (folder, file) = (draw.of(&NOUNS), draw.of(&NOUNS));
    format!(
        "src/{folder}/{}_{file}_{}.rs",
        draw.of(&VERBS),
        draw.below(90)
    )
}

fn sentence(draw: &mut Draw, sentences: &[&str]) -> String {
    let name = match draw.below(3) {
        0 => path(draw),
        1 => format!("{}_{}", draw.of(&VERBS), draw.of(&NOUNS)),
        _ => format!("the {} {}", draw.of(&NOUNS), draw.of(&NOUNS)),
    };
    draw.of(sentences).replace("{}", &name)
}

fn paragraph(draw: &mut Draw, sentences: &[&str], count: usize) -> String {
    let all: Vec<String> = (0..count).map(|_| sentence(draw, sentences)).collect();
    all.join(" ")
}

fn talk(messages: &mut Vec<Message>, draw: &mut Draw, _turn: usize, sentences: &[&str]) {
    let (asked, answered) = (1 + draw.below(6), 4 + draw.below(12));
    messages.push(Message::text(Role::User, paragraph(draw, sentences, asked)));
    let mut answer = paragraph(draw, sentences, answered / 2);
    answer.push_str("\n\n- ");
    answer.push_str(&paragraph(draw, sentences, answered / 2));
    messages.push(Message::text(Role::Assistant, answer));
}

/// A few steps, and now and then a word of the user.
fn work(messages: &mut Vec<Message>, draw: &mut Draw, turn: usize) {
    if turn > 0 {
        let asked = 1 + draw.below(2);
        messages.push(Message::text(
            Role::User,
            paragraph(draw, &SENTENCES[..ENGLISH], asked),
        ));
    }
    for step in 0..4 + draw.below(12) {
        let id = format!("call_{turn}_{step}");
        let file = path(draw);
        let (name, arguments, shown) = match draw.below(4) {
            0 => ("read_file", format!("{{\"path\":\"{file}\"}}"), code(draw)),
            1 => {
                let word = draw.of(&VERBS);
                let found = lines(draw, |draw| {
                    format!("{}:{}:    {}", path(draw), draw.below(900), statement(draw))
                });
                (
                    "grep",
                    format!("{{\"pattern\":\"{word}_\",\"path\":\"src\"}}"),
                    found,
                )
            }
            2 => {
                let old = statement(draw);
                let new = statement(draw);
                let arguments = format!(
                    "{{\"path\":\"{file}\",\"old_string\":\"{old}\",\"new_string\":\"{new}\\n{}\"}}",
                    statement(draw)
                );
                ("edit_file", arguments, format!("{file} has been updated"))
            }
            _ => {
                let failed = draw.below(4) == 0;
                let mut shown = lines(draw, |draw| {
                    format!("test {}::{} ... ok", draw.of(&NOUNS), draw.of(&VERBS))
                });
                if failed {
                    shown.push_str(&format!(
                        "error[E0{}]: {} in {file}\n",
                        draw.below(700),
                        draw.of(&NOUNS)
                    ));
                }
                (
                    "shell",
                    format!("{{\"command\":\"cargo test {}\"}}", draw.of(&NOUNS)),
                    shown,
                )
            }
        };
        let said = sentence(draw, &SENTENCES[..ENGLISH]);
        messages.push(Message {
            role: Role::Assistant,
            blocks: vec![
                Block::Text(said),
                Block::Call(Call::new(id.clone(), name, arguments)),
            ],
        });
        messages.push(Message {
            role: Role::Tool,
            blocks: vec![Block::Result(ToolResult {
                call_id: id.into(),
                parts: vec![ResultPart::Text(shown)],
                is_error: false,
            })],
        });
    }
}

fn statement(draw: &mut Draw) -> String {
    format!(
        "let {} = {}_{}({}, {});",
        draw.of(&NOUNS),
        draw.of(&VERBS),
        draw.of(&NOUNS),
        draw.of(&NOUNS),
        draw.below(4_000)
    )
}

fn code(draw: &mut Draw) -> String {
    lines(draw, |draw| match draw.below(5) {
        0 => format!(
            "fn {}_{}({}: u32) {{",
            draw.of(&VERBS),
            draw.of(&NOUNS),
            draw.of(&NOUNS)
        ),
        1 => format!("    // {}", sentence(draw, &SENTENCES[..ENGLISH])),
        2 => "}".to_owned(),
        _ => format!("    {}", statement(draw)),
    })
}

fn lines(draw: &mut Draw, line: impl Fn(&mut Draw) -> String) -> String {
    let mut text = String::new();
    for _ in 0..10 + draw.below(70) {
        text.push_str(&line(draw));
        text.push('\n');
    }
    text
}
