import Foundation

/// A point of a trail, as the receiver gave it.
struct TrailPoint: Codable, Equatable {
    let latitude: Double
    let longitude: Double
    let altitude: Double?
    let time: Date
}

/// A trail that somebody walked.
struct Trail: Codable, Identifiable {
    let id: UUID
    var name: String
    var points: [TrailPoint]

    var duration: TimeInterval {
        guard let first = points.first, let last = points.last else { return 0 }
        return last.time.timeIntervalSince(first.time)
    }

    var climb: Double {
        var sum = 0.0
        for (earlier, later) in zip(points, points.dropFirst()) {
            guard let from = earlier.altitude, let to = later.altitude else { continue }
            sum += max(0, to - from)
        }
        return sum
    }

    var descent: Double {
        var sum = 0.0
        for (earlier, later) in zip(points, points.dropFirst()) {
            guard let from = earlier.altitude, let to = later.altitude else { continue }
            sum += max(0, from - to)
        }
        return sum
    }
}

enum TrailError: Error, LocalizedError {
    case notFound(UUID)
    case damaged(URL)

    var errorDescription: String? {
        switch self {
        case .notFound(let id):
            return "There is no trail \(id.uuidString)."
        case .damaged(let url):
            return "The file \(url.lastPathComponent) cannot be read."
        }
    }
}

/// Keeps trails as one file each.
final class TrailStore {
    private let folder: URL
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private var known: [UUID: Trail] = [:]

    init(folder: URL) throws {
        self.folder = folder
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func load() throws -> [Trail] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "trail" {
            let data = try Data(contentsOf: file)
            guard let trail = try? decoder.decode(Trail.self, from: data) else {
                throw TrailError.damaged(file)
            }
            known[trail.id] = trail
        }
        return known.values.sorted { $0.name < $1.name }
    }

    func save(_ trail: Trail) throws {
        let data = try encoder.encode(trail)
        try data.write(to: url(of: trail.id), options: .atomic)
        known[trail.id] = trail
    }

    func remove(_ id: UUID) throws {
        guard known.removeValue(forKey: id) != nil else {
            throw TrailError.notFound(id)
        }
        try FileManager.default.removeItem(at: url(of: id))
    }

    func rename(_ id: UUID, to name: String) throws {
        guard var trail = known[id] else {
            throw TrailError.notFound(id)
        }
        trail.name = name
        try save(trail)
    }

    private func url(of id: UUID) -> URL {
        folder.appendingPathComponent(id.uuidString).appendingPathExtension("trail")
    }
}
