# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
#
# Prints the completions of zsh for lines:  zsh -f complete.zsh FOLDER LINE...
# Each match is a line, and a line "--" follows the matches of each LINE.
# The completion system needs an interactive shell, so one runs on its own terminal. Its compadd
# prints the matches between two marks instead of adding them.
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "PS1= PS2= RPS1= && stty -echo && fpath=(${(q)1} \$fpath) && autoload -Uz compinit && compinit -u -D"
zpty -w inner 'compadd() {
    local -a matches
    local kept=${argv[(i)(-|--)]}
    if [[ " ${(j: :)argv[1,kept]} " == *" -"[OAD]" "* ]]; then
        builtin compadd "$@"
        return
    fi
    builtin compadd -O matches "$@"
    print -l -- "match "$^matches
    return $(( ! $#matches ))
}'
zpty -w inner 'tell() { print "begin-of-matches"; _main_complete; compstate[insert]= compstate[list]=; print "end-of-matches" }'
zpty -w inner 'zle -C tell complete-word tell && bindkey "^I" tell && print ready-$((6 * 7))'
zpty -r -m inner ready '*ready-42*' || exit 3
for wanted in "${@[2,-1]}"; do
    zpty -w -n inner $'\C-u'"$wanted"$'\t'
    zpty -r -m inner found '*end-of-matches*' || exit 3
    for line in ${(f)found}; do
        line=${line%$'\r'}
        [[ $line == 'match '* ]] && print -r -- ${line#match }
    done
    print -r -- --
done
zpty -d inner
