# Reads the sensors of a greenhouse and opens the windows.
#
# Usage: greenhouse (status | open | close | watch) [--quiet]

set -g greenhouse_state ~/.local/share/greenhouse
set -g greenhouse_warm 26
set -g greenhouse_cold 14

function __greenhouse_say --argument-names text
    if not set -q greenhouse_quiet
        echo (date '+%H:%M') $text
    end
end

function __greenhouse_read --argument-names sensor
    set -l file $greenhouse_state/$sensor
    if not test -r $file
        echo "There is no sensor \"$sensor\"." >&2
        return 1
    end
    string trim <$file
end

function __greenhouse_windows
    for file in $greenhouse_state/windows/*
        path basename $file
    end
end

function __greenhouse_open
    for window in (__greenhouse_windows)
        if test (cat $greenhouse_state/windows/$window) = closed
            echo open >$greenhouse_state/windows/$window
            __greenhouse_say "$window: opened"
        end
    end
end

function __greenhouse_close
    for window in (__greenhouse_windows)
        if test (cat $greenhouse_state/windows/$window) = open
            echo closed >$greenhouse_state/windows/$window
            __greenhouse_say "$window: closed"
        end
    end
end

function __greenhouse_status
    for sensor in temperature humidity light
        set -l value (__greenhouse_read $sensor)
        or continue
        printf '%-12s %s\n' $sensor $value
    end
    for window in (__greenhouse_windows)
        printf '%-12s %s\n' $window (cat $greenhouse_state/windows/$window)
    end
end

function __greenhouse_watch
    while true
        set -l celsius (__greenhouse_read temperature)
        or return
        if test $celsius -gt $greenhouse_warm
            __greenhouse_open
        else if test $celsius -lt $greenhouse_cold
            __greenhouse_close
        end
        sleep 60
    end
end

function greenhouse --description 'Looks after a greenhouse'
    argparse 'q/quiet' -- $argv
    or return
    if set -q _flag_quiet
        set -f greenhouse_quiet
    end
    switch "$argv[1]"
        case status
            __greenhouse_status
        case open
            __greenhouse_open
        case close
            __greenhouse_close
        case watch
            __greenhouse_watch
        case '*'
            echo 'Usage: greenhouse (status | open | close | watch) [--quiet]' >&2
            return 2
    end
end

complete -c greenhouse -f -n __fish_use_subcommand -a 'status open close watch'
complete -c greenhouse -s q -l quiet -d 'Prints nothing'
