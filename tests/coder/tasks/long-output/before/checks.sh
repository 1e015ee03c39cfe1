# Checks every rule, and says so at length.
bad=$(awk '
    NR == FNR { limit[$1] = $2; next }
    END {
        for (rule = 1; rule <= 9000; rule++) {
            value = rule in limit ? limit[rule] : 0
            if (value < 0) print "rule " rule " FAILED: its limit is " value
            else print "rule " rule " holds"
        }
    }' limits.txt limits.txt)
printf '%s\n' "$bad"
case $bad in *FAILED*) echo "some rule failed" ; exit 1 ;; esac
