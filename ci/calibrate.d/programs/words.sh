# Fills an associative array and reads it again.
declare -A lengths
for ((number = 0; number < 60000; number++)); do
  lengths["word $number"]=$((number * 7919 % 60011))
done
sum=0
for word in "${!lengths[@]}"; do
  ((sum += lengths[$word]))
done
echo "$sum"
