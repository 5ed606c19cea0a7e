# crabhook's completion for bash: crabhook completion bash > PLACE
_crabhook_rows='
ROWS
'
_crabhook() {  # without mapfile, which macOS's bash has not
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local here=crabhook one place offered
    COMPREPLY=()
    for one in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $one != -* && $_crabhook_rows == *$'\n'"$here $one"$'\t'* ]] && here="$here $one"
    done
    [[ $before == -* && $_crabhook_rows == *$'\n'"$here $before"$'\t'* ]] && here="$here $before"
    while IFS=$'\t' read -r place offered _; do
        [[ $place != "$here" || ($offered == -* && $word != -*) ]] && continue
        case $offered in
            '<text>') ;;
            '<file>' | '<directory>')
                while IFS= read -r one; do
                    COMPREPLY+=("$one")
                done < <(compgen -A "${offered:1:${#offered}-2}" -- "$word") ;;
            "$word"*)
                printf -v one %q "$offered"
                COMPREPLY+=("$one") ;;
        esac
    done <<< "$_crabhook_rows"
}
complete -o bashdefault -o default -F _crabhook crabhook
