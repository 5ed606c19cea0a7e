#compdef crabhook
# crabhook's completion for zsh: crabhook completion zsh > PLACE
typeset -g _crabhook_rows='
ROWS
'
_crabhook() {
    local here=crabhook before=${words[CURRENT-1]} one
    local -a row options others
    for one in "${(@)words[2,CURRENT-1]}"; do
        [[ $one != -* && $_crabhook_rows == *$'\n'"$here $one"$'\t'* ]] && here+=" $one"
    done
    [[ $before == -* && $_crabhook_rows == *$'\n'"$here $before"$'\t'* ]] && here+=" $before"
    for one in "${(@f)_crabhook_rows}"; do
        row=("${(@ps:\t:)one}")
        [[ ${row[1]} == "$here" ]] || continue
        case ${row[2]} in
            '<text>') _message value ;;
            '<file>') _files ;;
            '<directory>') _files -/ ;;
            -*) options+=("${row[2]}:${row[3]}") ;;
            *) others+=("${row[2]}${row[3]:+:${row[3]}}") ;;
        esac
    done
    if [[ ${words[CURRENT]} == -* ]]; then
        _describe option options
    elif (( $#others )); then
        _describe command others
    fi
}
# Read by zsh's own completion it is the function's first call; sourced it is not.
[[ ${funcstack[1]} == _crabhook ]] && _crabhook "$@" || compdef _crabhook crabhook
