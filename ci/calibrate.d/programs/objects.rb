# Creates objects and strings, and drops most of them.
kept = []
15.times do |round|
  rows = Array.new(20_000) { |number| { id: number, name: "row #{number * round}" } }
  kept << rows.group_by { |row| row[:id] % 97 }.size
end
puts kept.sum
