# crabhook's completion for fish: crabhook completion fish > PLACE
set -g __crabhook_rows (string split \n -- '
ROWS
')
set -g __crabhook_places (string replace -r '\t.*' '' -- $__crabhook_rows)
function __crabhook_offered
    set -l here crabhook
    set -l given (commandline -opc)
    set -l typed (commandline -ct)
    set -l option $given[-1]
    set -l start ''
    if string match -q -- '--*=*' $typed
        set option (string replace -r '=.*' '' -- $typed)
        set start "$option="
        set typed (string replace -r '^[^=]*=' '' -- $typed)
    end
    for word in $given[2..]
        string match -q -- '-*' $word; and continue
        contains -- "$here $word" $__crabhook_places; and set here "$here $word"
    end
    if string match -q -- '-*' $option
        contains -- "$here $option" $__crabhook_places; and set here "$here $option"
    end
    for row in $__crabhook_rows
        set -l parts (string split \t -- $row)
        test "$parts[1]" = "$here"; or continue
        switch $parts[2]
            case '<text>'
            case '<file>'
                printf '%s\n' $start(__fish_complete_path $typed)
            case '<directory>'
                printf '%s\n' $start(__fish_complete_directories $typed)
            case '-*'
                string match -q -- '-*' $typed; and printf '%s\t%s\n' $parts[2] $parts[3]
            case '*'
                printf '%s\t%s\n' $start$parts[2] $parts[3]
        end
    end
end
complete -c crabhook -e
complete -c crabhook -f -a '(__crabhook_offered)'
