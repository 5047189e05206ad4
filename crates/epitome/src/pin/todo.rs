//! What the user wants done later.

use super::sentences::{Item, Piece, Register};
use super::standing::is_standing;

/// How a sentence begins that puts something off, in small letters.
const OPENINGS: &[&str] = &[
    "todo",
    "to-do",
    "to do:",
    "fixme",
    "remember to ",
    "please remember to ",
    "don't forget to ",
    "do not forget to ",
    "dont forget to ",
    "please don't forget to ",
    "don't let me forget",
    "remind me to ",
    "later we need to ",
    "later we have to ",
    "later we should ",
    "later you need to ",
    "later, we need to ",
    "we still need to ",
    "we still have to ",
    "still to do",
    "still open:",
    "for later:",
    "next up:",
    "next step:",
    "afterwards we need to ",
    "once that is done, ",
    "once this is done, ",
    "when that is done, ",
    "when you're done, ",
    "after that, we need to ",
    "at the end, ",
    "at some point we need to ",
    "before we finish, ",
    "before we ship, we need to ",
    "noch offen:",
    "noch zu tun",
    "vergiss nicht,",
    "vergiss nicht ",
    "nicht vergessen",
    "denk daran,",
    "denk dran,",
    "erinnere mich",
    "später müssen wir ",
    "später noch ",
    "wir müssen noch ",
    "danach müssen wir ",
    "aufgabe:",
    "pendiente:",
    "no olvides ",
    "no te olvides de ",
    "no olvidar",
    "recuérdame ",
    "recuerda hacer",
    "luego tenemos que ",
    "más tarde tenemos que ",
    "todavía tenemos que ",
    "por hacer:",
    "à faire",
    "n'oublie pas de ",
    "n'oubliez pas de ",
    "rappelle-moi de ",
    "plus tard, il faudra ",
    "il faudra encore ",
    "a fazer:",
    "não esqueça de ",
    "não se esqueça de ",
    "lembre-me de ",
    "mais tarde precisamos ",
    "da fare",
    "non dimenticare di ",
    "ricordami di ",
    "più tardi dobbiamo ",
    "niet vergeten",
    "vergeet niet ",
    "te doen:",
    "later moeten we ",
    "не забудь",
    "не забудьте",
    "напомни",
    "потом нужно ",
    "сделать позже",
    "待办",
    "待辦",
    "别忘了",
    "別忘了",
    "不要忘记",
    "不要忘了",
    "记得",
    "記得",
    "稍后",
    "之后需要",
    "忘れずに",
    "忘れないで",
    "あとで",
    "後で",
    "残タスク",
    "やること",
    "할 일",
    "잊지 말",
    "나중에",
];
/// What stands in the middle of such a sentence.
const INSIDE: &[&str] = &[
    "nicht vergessen",
    "を忘れずに",
    "忘れないで",
    "잊지 마",
    "잊지 말",
];
/// Words of a line under which tasks are listed.
const HEADINGS: &[&str] = &[
    "todo",
    "to-do",
    "to do",
    "tasks",
    "task list",
    "next steps",
    "remaining",
    "still open",
    "open points",
    "action items",
    "things to do",
    "do the following",
    "please do these",
    "aufgaben",
    "offene punkte",
    "noch zu tun",
    "nächste schritte",
    "tareas",
    "pendientes",
    "por hacer",
    "próximos pasos",
    "tâches",
    "à faire",
    "prochaines étapes",
    "tarefas",
    "próximos passos",
    "compiti",
    "da fare",
    "taken",
    "задачи",
    "待办",
    "待辦",
    "任务",
    "任務",
    "タスク",
    "やること",
    "할 일",
    "작업 목록",
];

/// Whether a sentence is something to be done later.
pub(super) fn is_todo(piece: &Piece<'_>) -> bool {
    match piece.item {
        Item::Open => true,
        Item::Ticked => false,
        Item::Under(heading) if piece.register == Register::Typed && lists_tasks(heading) => {
            !is_standing(piece.text)
        }
        Item::Under(_) | Item::No => is_marked(piece.text),
    }
}

/// Whether a sentence says itself that it is a to-do.
pub(super) fn is_marked(text: &str) -> bool {
    if text.ends_with(['?', '？']) || text.chars().count() < 8 && text.is_ascii() {
        return false;
    }
    let start: String = text.chars().take(80).flat_map(char::to_lowercase).collect();
    let start = start.replace('’', "'");
    OPENINGS.iter().any(|opening| start.starts_with(opening))
        || INSIDE.iter().any(|inside| start.contains(inside))
}

fn lists_tasks(heading: &str) -> bool {
    let is_short = heading.chars().count() <= 80;
    let introduces = heading.ends_with([':', '：']) || heading.starts_with('#');
    let lower = heading.to_lowercase();
    is_short && introduces && HEADINGS.iter().any(|word| lower.contains(word))
}
