-- Creates tables and drops most of them.
local kept = {}
for round = 1, 20 do
  local rows = {}
  for number = 1, 20000 do
    rows[number] = {id = number, name = "row " .. number * round}
  end
  kept[round] = rows[round * 100].name
end
print(#kept, kept[20])
