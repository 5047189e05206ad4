//! Numbers in words: who types "ten slides" may find "10 slides" in a summary.

/// A value in figures, and what it is called in English, German, French, Spanish and Russian.
const SPELLED: &[(&str, &[&str])] = &[
    (
        "1",
        &[
            "one",
            "ein",
            "eine",
            "einen",
            "un",
            "une",
            "una",
            "uno",
            "один",
            "одна",
            "одного",
            "одной",
        ],
    ),
    ("2", &["two", "zwei", "deux", "dos", "два", "две", "двух"]),
    (
        "3",
        &["three", "drei", "trois", "tres", "три", "трёх", "трех"],
    ),
    (
        "4",
        &[
            "four",
            "vier",
            "quatre",
            "cuatro",
            "четыре",
            "четырёх",
            "четырех",
        ],
    ),
    ("5", &["five", "fünf", "cinq", "cinco", "пять", "пяти"]),
    ("6", &["six", "sechs", "seis", "шесть", "шести"]),
    ("7", &["seven", "sieben", "sept", "siete", "семь", "семи"]),
    ("8", &["eight", "acht", "huit", "ocho", "восемь", "восьми"]),
    ("9", &["nine", "neun", "neuf", "nueve", "девять", "девяти"]),
    ("10", &["ten", "zehn", "dix", "diez", "десять", "десяти"]),
    (
        "11",
        &[
            "eleven",
            "elf",
            "onze",
            "once",
            "одиннадцать",
            "одиннадцати",
        ],
    ),
    (
        "12",
        &[
            "twelve",
            "dozen",
            "zwölf",
            "douze",
            "doce",
            "двенадцать",
            "двенадцати",
        ],
    ),
    (
        "15",
        &[
            "fifteen",
            "fünfzehn",
            "quinze",
            "quince",
            "пятнадцать",
            "пятнадцати",
        ],
    ),
    (
        "20",
        &[
            "twenty",
            "zwanzig",
            "vingt",
            "veinte",
            "двадцать",
            "двадцати",
        ],
    ),
    (
        "30",
        &[
            "thirty",
            "dreißig",
            "trente",
            "treinta",
            "тридцать",
            "тридцати",
        ],
    ),
    (
        "40",
        &[
            "forty",
            "vierzig",
            "quarante",
            "cuarenta",
            "сорок",
            "сорока",
        ],
    ),
    (
        "50",
        &[
            "fifty",
            "fünfzig",
            "cinquante",
            "cincuenta",
            "пятьдесят",
            "пятидесяти",
        ],
    ),
    (
        "60",
        &[
            "sixty",
            "sechzig",
            "soixante",
            "sesenta",
            "шестьдесят",
            "шестидесяти",
        ],
    ),
    (
        "80",
        &[
            "eighty",
            "achtzig",
            "ochenta",
            "восемьдесят",
            "восьмидесяти",
        ],
    ),
    ("90", &["ninety", "neunzig", "noventa", "девяносто"]),
    (
        "100",
        &[
            "hundred",
            "hundert",
            "einhundert",
            "cent",
            "cien",
            "ciento",
            "сто",
            "ста",
        ],
    ),
    (
        "1000",
        &[
            "thousand",
            "tausend",
            "eintausend",
            "mille",
            "mil",
            "тысяча",
            "тысячи",
            "тысяч",
        ],
    ),
];

/// What a number in figures is called.
pub(super) fn names(figures: &str) -> &'static [&'static str] {
    let is_it = |(value, _): &&(&str, &[&str])| {
        value
            .bytes()
            .eq(figures.bytes().filter(|byte| *byte != b','))
    };
    SPELLED.iter().find(is_it).map_or(&[], |(_, names)| names)
}

/// The figures of a number in words, but for one: that is an article too.
pub(super) fn figures(name: &str) -> Option<&'static str> {
    let is_it = |(_, names): &&(&str, &[&str])| names.contains(&name);
    let found = SPELLED.iter().skip(1).find(is_it);
    found.map(|(figures, _)| *figures)
}
