"""The page of a derivative: one HTML file that shows the user's function beside the generated text, and what each became in the other.

    relation.py   the lines of both sides, and the pieces of generated text that come from each of the user's statements
    measured.py   a call, line by line: how often each line runs, how long it takes, and the memory that is held
    drawing.py    loops with what they carry and keep, and memory over the run, as SVG
    document.py   the page: `page.css` and `page.js` around these
"""
