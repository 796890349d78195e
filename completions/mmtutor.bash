# Completion of mmtutor for bash.

_mmtutor() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local commands='lesson read run xray roofline frame check doctor worker'
  local command='' i skip=0
  COMPREPLY=()

  # The first word that is neither an option nor the value of one.
  for ((i = 1; i < COMP_CWORD; i++)); do
    if ((skip)); then
      skip=0
      continue
    fi
    case ${COMP_WORDS[i]} in
      --lang | --theme | --worker) skip=1 ;;
      -*) ;;
      *)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done

  local values=''
  case $before in
    --lang) values='en zh auto' ;;
    --theme) values='dark light contrast mono' ;;
    --pane) values='text sim live' ;;
    --isa) values='auto plain avx2 avx512' ;;
    --device) values='cuda:0 cuda:1 cpu null' ;;
    --dtype) values='f32 bf16 f16 f64' ;;
    --op) values='gemm gemv add copy reduce transpose none' ;;
    --layout) values='A=row A=col B=row B=col C=row C=col' ;;
    --arch) values='compute_80 compute_89 compute_90 compute_90a compute_100 compute_120' ;;
    --size) values='80x24 100x30 160x45' ;;
    --live | --trace) compopt -o default; return ;;
    --worker | --width | --seconds | --warmup | --threads | --seed | --param | --sweep | --entry | --grid | --block | \
      --smem | --args | --define | --trace-block | -M | -N | -K) return ;;
  esac
  if [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    __ltrim_colon_completions "$word" 2>/dev/null
    return
  fi

  local options='' words=''
  case $command in
    '')
      options='--lang --theme --color --no-color --worker --plain --ascii --a11y --help --version'
      [[ $word == --color* ]] && options='--color=auto --color=always --color=never'
      words=$commands
      ;;
    lesson) words=$(_mmtutor_lessons) ;;
    read)
      options='--lang --width --answers --ascii --list --help'
      words=$(_mmtutor_lessons)
      ;;
    run)
      options='-M -N -K --param --sweep --device --seconds --warmup --cold --no-reference --threads
        --isa --seed --json --worker --list --help'
      words=$(mmtutor run --list 2>/dev/null | cut -d' ' -f1)
      compopt -o default
      ;;
    xray)
      options='-M -N -K --entry --grid --block --smem --args --dtype --op --layout --define --param
        --arch --sample --no-checks --seconds --seed --trace --trace-block --json --verbose --lang
        --width --ascii --color --no-color --worker --list --help'
      words=$(mmtutor xray --list 2>/dev/null | cut -d' ' -f1)
      compopt -o default
      ;;
    roofline) options='--device --seconds --json --worker --help' ;;
    frame)
      options='--size --lang --theme --pane --live --ascii --svg --check --help'
      words="home help $(_mmtutor_lessons | sed 's|^|lesson/|')
        $(mmtutor run --list 2>/dev/null | cut -d' ' -f1 | sed 's|^|sim/|')"
      ;;
    check)
      options='--help'
      compopt -o default
      ;;
    doctor) options='--json --worker --help' ;;
  esac
  [[ $word == -* ]] && words=$options
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

_mmtutor_lessons() {
  mmtutor read --list --width 200 2>/dev/null | awk 'NF > 2 && !/  - / { print $2 }'
}

complete -F _mmtutor mmtutor
