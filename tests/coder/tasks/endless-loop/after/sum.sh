# Adds up the numbers from 1 to its argument.
sum=0
while [ "$1" -gt 0 ]; do
    sum=$((sum + $1))
    set -- $(($1 - 1))
done
echo "$sum"
