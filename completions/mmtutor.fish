# Completion of mmtutor for fish.

function __mmtutor_lessons
    mmtutor read --list --width 200 2>/dev/null | awk 'NF > 2 && !/  - / { print $2 }'
end

function __mmtutor_kernels
    mmtutor run --list 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

function __mmtutor_cuda_kernels
    mmtutor xray --list 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

set -l commands lesson read run xray roofline frame check doctor worker
set -l none "not __fish_seen_subcommand_from $commands"
complete -c mmtutor -f

complete -c mmtutor -n $none -a lesson -d 'opens one lesson'
complete -c mmtutor -n $none -a read -d 'a lesson as plain text'
complete -c mmtutor -n $none -a run -d 'compile, verify and measure a kernel'
complete -c mmtutor -n $none -a xray -d 'count what a CUDA kernel does, without a GPU'
complete -c mmtutor -n $none -a roofline -d 'measure the roofs of a device'
complete -c mmtutor -n $none -a frame -d 'any view as text or SVG'
complete -c mmtutor -n $none -a check -d 'check lessons, for authors'
complete -c mmtutor -n $none -a doctor -d 'what is here, what is missing'
complete -c mmtutor -n $none -a worker -d 'the measuring process (JSON lines)'

complete -c mmtutor -n $none -l plain -d 'text, no screen'
complete -c mmtutor -n $none -l a11y -d 'cursor on the focus'
set -l colours "$none; or __fish_seen_subcommand_from xray"
complete -c mmtutor -n $colours -l color -xa 'auto always never' -d colours
complete -c mmtutor -n $colours -l no-color -d 'no colours'
complete -c mmtutor -n $none -s V -l version -d 'version and what is built in'
complete -c mmtutor -s h -l help -d 'help'

set -l texts "$none; or __fish_seen_subcommand_from read xray frame"
complete -c mmtutor -n $texts -l lang -xa 'en zh auto' -d language
complete -c mmtutor -n $texts -l ascii -d 'ASCII only'
complete -c mmtutor -n "$none; or __fish_seen_subcommand_from frame" -l theme -xa 'dark light contrast mono' -d theme
complete -c mmtutor -n "$none; or __fish_seen_subcommand_from run xray roofline doctor" -l worker -x -d 'measure elsewhere'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray roofline doctor' -l json -d 'JSON objects'
complete -c mmtutor -n '__fish_seen_subcommand_from run roofline' -l device -xa 'cuda:0 cuda:1 cpu null' -d device
complete -c mmtutor -n '__fish_seen_subcommand_from run xray roofline' -l seconds -x -d 'time to measure'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray read' -l list -d 'what there is'

complete -c mmtutor -n '__fish_seen_subcommand_from lesson read' -a '(__mmtutor_lessons)'
complete -c mmtutor -n '__fish_seen_subcommand_from read xray' -l width -x -d columns
complete -c mmtutor -n '__fish_seen_subcommand_from read' -l answers -d 'with the answers'

complete -c mmtutor -n '__fish_seen_subcommand_from run' -F -a '(__mmtutor_kernels)'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray' -s M -x -d 'rows of C'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray' -s N -x -d 'columns of C'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray' -s K -x -d 'length of the sum'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray' -l param -x -d 'NAME=VALUE'
complete -c mmtutor -n '__fish_seen_subcommand_from run' -l sweep -x -d 'VAR=VALUES'
complete -c mmtutor -n '__fish_seen_subcommand_from run' -l warmup -x -d 'seconds at most'
complete -c mmtutor -n '__fish_seen_subcommand_from run' -l cold -d 'caches do not help'
complete -c mmtutor -n '__fish_seen_subcommand_from run' -l no-reference -d 'no cuBLAS or CBLAS'
complete -c mmtutor -n '__fish_seen_subcommand_from run' -l threads -x -d 'CPU threads'
complete -c mmtutor -n '__fish_seen_subcommand_from run' -l isa -xa 'auto plain avx2 avx512' -d 'instruction set'
complete -c mmtutor -n '__fish_seen_subcommand_from run xray' -l seed -x -d 'of the inputs'

complete -c mmtutor -n '__fish_seen_subcommand_from xray' -F -a '(__mmtutor_cuda_kernels)'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l entry -x -d 'which kernel of the file'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l grid -x -d 'blocks X,Y,Z'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l block -x -d 'threads X,Y,Z'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l smem -x -d 'dynamic shared memory'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l args -x -d 'parameters in order'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l dtype -xa 'f32 bf16 f16 f64' -d 'of A and B'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l op -xa 'gemm gemv add copy reduce transpose none' -d 'what it computes'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l layout -xa 'A=row A=col B=row B=col C=row C=col' -d 'of a matrix'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l define -x -d 'a macro NAME=VALUE'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l arch -xa 'compute_80 compute_89 compute_90 compute_90a compute_100 compute_120' -d 'compile for'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l sample -d 'some blocks of each kind'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l no-checks -d 'counts alone'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l trace -r -F -d 'events as JSON lines'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l trace-block -x -d 'block of the trace'
complete -c mmtutor -n '__fish_seen_subcommand_from xray' -l verbose -d 'what was left out'

complete -c mmtutor -n '__fish_seen_subcommand_from frame' -a "home help lesson/(__mmtutor_lessons)"
complete -c mmtutor -n '__fish_seen_subcommand_from frame' -l size -xa '80x24 100x30 160x45' -d 'columns and rows'
complete -c mmtutor -n '__fish_seen_subcommand_from frame' -l pane -xa 'text sim live' -d pane
complete -c mmtutor -n '__fish_seen_subcommand_from frame' -l live -r -F -d 'result to show'
complete -c mmtutor -n '__fish_seen_subcommand_from frame' -l svg -d 'an SVG'
complete -c mmtutor -n '__fish_seen_subcommand_from frame' -l check -d 'what is clipped'

complete -c mmtutor -n '__fish_seen_subcommand_from check' -F
