"""Fits the weights in epitome/src/pin/languages/english_weights.txt. With numpy, scipy and scikit-learn, from the root of the project:

    fit.py sentences FOLDER-OF-REAL-DATA > /tmp/s.txt                        the sentences, one a line
    EPITOME_SENTENCES=/tmp/s.txt cargo test -p epitome --lib evidence_tests  what the grammar finds in each: /tmp/s.txt.found
    fit.py folds FOLDER /tmp/s.txt.found                                     cross-validation
    fit.py weights FOLDER /tmp/s.txt.found > english_weights.txt             the weights

It never opens a source of the untouched part, nor the part `unseen` of the sentences of our own.
"""
import glob, hashlib, json, os, random, re, sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
LABELS, ROOT = os.path.dirname(HERE), os.path.abspath(os.path.join(HERE, '../../../..'))
VECTORS = ROOT + '/crates/epitome/tests/vectors/pins/'
UNTOUCHED = ('cc-agentv', 'cc-cipher', 'cc-context', '100K-11.', '100K-15.', '100K-19.', '100K-5.', '100K-9.', 'tau2')
TAU = 'native/tau-bench/gpt-4o-airline.json'
# Sentences of the rest of the tuning sources that a reader would not call facts or requests without doubt.
DOUBTFUL = {'6d20764d', '8aff9c97', 'd5a92885', 'e03c37b0', 'f52bed89', '4335ebf2'}
# How much sentences of the real sources and those that the tests of pins have weigh beside the others.
REAL, OURS = 4.0, 4.0
C, PHRASES, FOLDS = 1.0, 10_000, 6
LONGEST, LONGEST_FIRST = 3, 5


def lines(path):
    with open(path, encoding='utf-8') as file:
        return file.read().split('\n')


def content(value):
    if isinstance(value, str):
        return value
    return '\n'.join(b['text'] for b in value or [] if isinstance(b, dict) and isinstance(b.get('text'), str))


class Sources:
    def __init__(self, folder):
        self.folder, self.files = folder, {}

    def open(self, file):
        assert not any(name in file for name in UNTOUCHED), file
        if file not in self.files:
            with open(os.path.join(self.folder, file), encoding='utf-8') as source:
                self.files[file] = json.load(source)
        return self.files[file]

    def message(self, file, at):
        at, data = [int(part) for part in at.split('.')], self.open(file)
        if file.startswith('unified'):
            return content(data['messages'][at[0]]['content'])
        if file.startswith('qa'):
            return content(data[at[0]]['turns'][at[1]][at[2]]['content'])
        if 'swe-agent' in file:
            return content(data['history'][at[0]]['content'])
        return content(data[at[0]]['traj'][at[1]]['content'])

    def messages(self):
        """All that users said in the tuning sources: family, file, message, text."""
        for path in sorted(glob.glob(self.folder + '/qa/beam/*.chat.json')) + sorted(glob.glob(self.folder + '/unified/*.json')):
            file = os.path.relpath(path, self.folder)
            if any(name in file for name in UNTOUCHED):
                continue
            data = self.open(file)
            if file.startswith('qa'):
                for i, batch in enumerate(data):
                    for j, turn in enumerate(batch['turns']):
                        for k, message in enumerate(turn):
                            if message.get('role') == 'user':
                                yield 'chat', file, f'{i}.{j}.{k}', re.sub(r'->-> [\d,]+', '', content(message['content']))
            else:
                for i, message in enumerate(data['messages']):
                    text = content(message['content']) if message['role'] == 'user' else ''
                    if 0 < len(text) < 1600:
                        yield 'code', file, str(i), text
        for i, run in enumerate(self.open(TAU)):
            for j, message in enumerate(run['traj']):
                if message['role'] == 'user':
                    yield 'cust', TAU, f'{i}.{j}', content(message['content']).replace('###STOP###', '')


def split(text):
    fenced = False
    for line in text.split('\n'):
        line = line.strip()
        if line.startswith('```'):
            fenced = not fenced
        elif not fenced and line and not line.startswith(('>', '|', '#', '<', '$')):
            line = re.sub(r'^([-*•+]|\d{1,2}[.)])\s+', '', line)
            yield from (part for part in re.split(r'(?<=[.!?…])\s+', line) if 8 <= len(part) <= 400)


def rows(folder):
    """Group, kind, whether it is in force, sentence. Groups stay together in cross-validation; kinds that begin with `r`
    are what it measures."""
    sources = Sources(folder)
    for writer in ('airline', 'retail', 'pairs', 'chat', 'coding', 'frames', 'ours'):
        for line in lines(f'{LABELS}/written/{writer}.tsv'):
            if line:
                label, text = line.split('\t', 1)
                yield writer, 'written', label == 'in_force', text
    for line in lines(VECTORS + 'typed.tsv')[1:]:
        part, language, label, text = (line.split('\t') + [''] * 4)[:4]
        if (part, language) == ('seen', 'en'):
            yield 'typed', 'vectors', label == 'in_force', text
    for line in lines(VECTORS + 'typed_second.tsv')[1:]:
        part, label, text = (line.split('\t') + [''] * 3)[:3]
        if part == 'seen':
            yield 'second', 'vectors', label == 'in_force', text
    for kind in ('constraints', 'ordinary'):
        for path in sorted(glob.glob(f'{VECTORS}{kind}_*.txt')):
            for line in lines(path):
                if line.startswith('en\t'):
                    yield kind, 'vectors', kind == 'constraints', line.split('\t')[1]
    task = {str(i): f"task {run['task_id']}" for i, run in enumerate(sources.open(TAU))}

    def group(file, message):
        return task[message.split('.')[0]] if file == TAU else file

    seen, known, real = set(), set(), []
    for table in ('sentences', 'natural', 'customers'):
        for line in lines(f'{LABELS}/{table}.tsv')[1:]:
            columns = line.split('\t')
            if table == 'sentences':
                if columns[0] != 'tuning':
                    continue
                columns = columns[1:]
            if len(columns) < 6 or not columns[0].endswith(('.json', '.traj')):
                continue
            file, message, start, end, _, label = columns[:6]
            known.add((file, message))
            text = ' '.join(sources.message(file, message)[int(start):int(end)].split())
            is_sure = columns[6:] != ['yes'] and label != 'not_typed'
            if (file, message, text) not in seen:
                seen.add((file, message, text))
                family = 'cust' if 'tau' in file else 'chat' if file.startswith('qa') else 'code'
                if is_sure:
                    real.append((group(file, message), 'r' + family, label == 'in_force', text))
    # Messages of the same sources that nobody had labelled: read, none of their sentences is in force without doubt.
    for family, file, message, text in sources.messages():
        if (file, message) not in known:
            for sentence in split(text):
                if hashlib.sha256(sentence.encode()).hexdigest()[:8] not in DOUBTFUL:
                    yield group(file, message), 'unlabelled', False, sentence
    yield from real


def features(found):
    _, first, words, grammar = found.rstrip('\n').split('\t')
    first, placed = int(first), []
    for word in words.split(' '):
        begins, word = word.startswith('|'), word.removeprefix('|')
        if word.startswith('#'):
            word = 'one' if word == '#one' else '#'
        placed.append((word, begins))
    words = [word for word, _ in placed]
    out = set()
    for at, (_, begins) in enumerate(placed):
        for end in range(at + 1, min(len(words), at + (LONGEST_FIRST if at == first else LONGEST)) + 1):
            phrase = ' '.join(words[at:end])
            if end - at <= LONGEST:
                out.add(phrase)
            if at == first:
                out.add('^ ' + phrase)
            elif begins and at > 0:
                out.add('| ' + phrase)
    if words[-1]:
        out.add('$ ' + words[-1])
        if len(words) > 1:
            out.add('$ ' + ' '.join(words[-2:]))
    out.update(name for name in grammar.split(',') if name)
    out.add(f'@words {min(28, len(words)) // 4 * 4}')
    return out - {''}


def fit(matrix, labels, weight):
    from sklearn.linear_model import LogisticRegression
    return LogisticRegression(C=C, max_iter=300, solver='liblinear').fit(matrix, labels, sample_weight=weight)


def fitted(matrix, labels, weight, is_grammar):
    """The columns that are kept, their weights in tenths, and what counts before anything is said."""
    import numpy as np
    size = np.abs(fit(matrix, labels, weight).coef_[0])
    keep = np.flatnonzero((size >= np.sort(size)[-PHRASES]) | is_grammar)
    model = fit(matrix[:, keep], labels, weight)
    return keep, np.round(model.coef_[0] * 10).astype(int), int(round(model.intercept_[0] * 10))


def main():
    command, folder = sys.argv[1:3]
    data = list(rows(folder))
    if command == 'sentences':
        for *_, text in data:
            print(' '.join(text.split()) or 'x')
        return
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    found = lines(sys.argv[3])[:-1]
    assert len(found) == len(data), (len(found), len(data))
    vectorizer = CountVectorizer(analyzer=features, binary=True, min_df=2)
    matrix = vectorizer.fit_transform(found)
    names = vectorizer.get_feature_names_out()
    is_grammar = np.array([name.startswith('@') for name in names])
    labels = np.array([label for _, _, label, _ in data])
    kinds = np.array([kind for _, kind, _, _ in data])
    is_real = np.char.startswith(kinds, 'r')
    weight = np.where(is_real | (kinds == 'unlabelled'), REAL, 1.0)
    ours = np.array([group in ('constraints', 'ordinary', 'ours') for group, *_ in data])
    weight = np.where(ours, OURS, weight)
    if command == 'weights':
        keep, points, start = fitted(matrix, labels, weight, is_grammar)
        by_points = {}
        for name, point in zip(names[keep], points):
            if point:
                by_points.setdefault(int(point), []).append(name)
        by_points.setdefault(start, []).append('@start')
        print('# Written by epitome-eval/labels/fit/fit.py; weights.rs says how it is read. Points are tenths.')
        for point in sorted(by_points, reverse=True):
            print(f'{point}: ' + ', '.join(sorted(by_points[point])))
        return
    groups = sorted({group for (group, *_), real in zip(data, is_real) if real})
    random.Random(1).shuffle(groups)
    fold = {group: at % FOLDS for at, group in enumerate(groups)}
    folds = np.array([fold.get(group, -1) for group, *_ in data])
    points = np.zeros(len(labels))
    for at in range(FOLDS):
        test, train = (folds == at) & is_real, folds != at
        keep, weights, start = fitted(matrix[train], labels[train], weight[train], is_grammar)
        points[test] = matrix[test][:, keep] @ weights + start
    for needed in range(-6, 14, 2):
        row = []
        for kind in ('rcust', 'rchat', 'rcode'):
            mine, above = kinds == kind, points >= needed
            row.append(f'{kind[1:]} {(mine & labels & above).sum()} right {(mine & ~labels & above).sum()} wrong '
                       f'{(mine & labels & ~above).sum()} missed')
        print(f'{needed}: ' + '; '.join(row))


main()
