# What a reader of the documentation has at hand, in an empty folder that is also the home.
set -euo pipefail
trap 'echo "failed at: $BASH_COMMAND" >&2' ERR
# What a page starts in the background ends with it.
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

cp -r "$PROJECT/examples" .
mkdir -p bin data/epitome .claude/projects/demo DIR/unified
epitome convert -q examples/coding-session.jsonl --to claude-code --out session.jsonl
epitome convert -q examples/coding-session.jsonl --to unified --out DIR/unified/one.json
epitome compact -q session.jsonl --print summary > summary.md
cp session.jsonl .claude/projects/demo/

# A store with conversations in it, and the names that stand for ID and COMPACTION.
cp "$PROJECT/crates/epitome-testkit/museum/820f8ef/engine/log.db" data/epitome/epitome.db
ID=museum-layer
COMPACTION=$(epitome log --session "$ID" --json | grep -o '"id":"[^"]*"' | tail -n 1 | cut -d '"' -f 4)

# An agent that only asks whether somebody is there.
printf '#!/bin/sh\nexec curl -sf "$ANTHROPIC_BASE_URL/healthz"\n' > bin/claude
chmod +x bin/claude

# The command is built already, and a proxy runs beside the commands behind it, on any free port.
cargo() {
  if [ "$1 $2 $3" != "run --release --" ]; then
    echo "not a command that is run here: cargo $*" >&2
    return 1
  fi
  shift 3
  if [ "$1" != serve ]; then
    epitome "$@"
    return
  fi
  epitome "$@" --listen 127.0.0.1:0 2> serve.log &
  until grep -q 'listens on' serve.log; do
    kill -0 $!
    sleep 0.1
  done
  # No provider can be reached here; the proxy answers in their place when `doctor` asks who is there.
  EPITOME_OPENAI_UPSTREAM=$(sed -n 's/.*listens on //p' serve.log)
  export EPITOME_OPENAI_UPSTREAM EPITOME_ANTHROPIC_UPSTREAM=$EPITOME_OPENAI_UPSTREAM
}
