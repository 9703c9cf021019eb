'use strict';

const BLACK = '#';

/**
 * Reads a grid of letters and black squares.
 *
 * @param {string} text - one line per row
 * @returns {string[][]}
 */
function parse(text) {
    const rows = text.trim().split('\n').map((line) => Array.from(line.trim()));
    const width = rows[0].length;
    rows.forEach((row, index) => {
        if (row.length !== width) {
            throw new RangeError(`row ${index + 1} has ${row.length} squares, not ${width}`);
        }
    });
    return rows;
}

function isBlack(grid, row, column) {
    const line = grid[row];
    return line === undefined || line[column] === undefined || line[column] === BLACK;
}

function startsAcross(grid, row, column) {
    return !isBlack(grid, row, column) && isBlack(grid, row, column - 1) && !isBlack(grid, row, column + 1);
}

function startsDown(grid, row, column) {
    return !isBlack(grid, row, column) && isBlack(grid, row - 1, column) && !isBlack(grid, row + 1, column);
}

function wordAcross(grid, row, column) {
    let word = '';
    while (!isBlack(grid, row, column)) {
        word += grid[row][column];
        column += 1;
    }
    return word;
}

function wordDown(grid, row, column) {
    let word = '';
    while (!isBlack(grid, row, column)) {
        word += grid[row][column];
        row += 1;
    }
    return word;
}

/**
 * Numbers the words of a grid as newspapers do: from the left, then from the top.
 */
function number(grid) {
    const across = new Map();
    const down = new Map();
    let next = 1;
    for (let row = 0; row < grid.length; row += 1) {
        for (let column = 0; column < grid[row].length; column += 1) {
            const opensAcross = startsAcross(grid, row, column);
            const opensDown = startsDown(grid, row, column);
            if (opensAcross) {
                across.set(next, wordAcross(grid, row, column));
            }
            if (opensDown) {
                down.set(next, wordDown(grid, row, column));
            }
            if (opensAcross || opensDown) {
                next += 1;
            }
        }
    }
    return { across, down };
}

function isSymmetric(grid) {
    const height = grid.length;
    return grid.every((line, row) =>
        line.every((square, column) => {
            const twin = grid[height - 1 - row][line.length - 1 - column];
            return (square === BLACK) === (twin === BLACK);
        }),
    );
}

function print(grid, out = process.stdout) {
    const { across, down } = number(grid);
    for (const line of grid) {
        out.write(`${line.map((square) => (square === BLACK ? '██' : '__')).join(' ')}\n`);
    }
    out.write('\nAcross\n');
    for (const [key, word] of across) {
        out.write(`${key}. (${word.length})\n`);
    }
    out.write('\nDown\n');
    for (const [key, word] of down) {
        out.write(`${key}. (${word.length})\n`);
    }
}

module.exports = { parse, number, isSymmetric, print };
