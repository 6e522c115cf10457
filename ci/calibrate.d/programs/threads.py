"""Eight threads allocate and free memory of many sizes; the scheduler decides what they hold at the same time."""
import threading
import time


def work(number):
    held = []
    for turn in range(3000):
        held.append(bytearray((number * 7919 + turn * 104_729) % 60_000 + 1))
        if len(held) > 100:
            held.pop(turn % 100)
    return len(held)


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

held = [str(number) for number in range(500_000)]
time.sleep(0.3)  # Idle at the end, so that there is a steady level.
print(len(held))
